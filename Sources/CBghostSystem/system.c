#include "bghost_system.h"
