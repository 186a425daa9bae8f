#include "common_templates.cuh"

COURSE_COMMON_TEMPLATES(template)
