#include "bghost.h"
