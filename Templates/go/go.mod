module example.org/template-name

go 1.19
