// tilelang target: {"kind":"c","tag":"","keys":["cpu"],"host":{"kind":"c","tag":"","keys":["cpu"]}}
#include <tl_templates/cpp/common.h>

#ifdef __cplusplus
extern "C"
#endif
int32_t softmax_kernel(float* X, float* Y);
#ifdef __cplusplus
extern "C"
#endif
float exp2f(float);
#ifdef __cplusplus
extern "C"
#endif
int32_t softmax_kernel(float* X, float* Y) {
  float x[1024];
  float highest[1];
  float total[1];
  for (int32_t bx = 0; bx < 64; ++bx) {
    for (int32_t i = 0; i < 256; ++i) {
      float broadcast_var = -INFINITY;
      float4 condval;
      if ((i < 250)) {
        condval = *(float4*)(X + ((bx * 1000) + (i * 4)));
      } else {
        condval = ((float4)(broadcast_var, broadcast_var, broadcast_var, broadcast_var));
      }
      *(float4*)(x + (i * 4)) = condval;
    }
    highest[0] = -INFINITY;
    for (int32_t rv = 0; rv < 1024; ++rv) {
      float v_ = highest[0];
      float v__1 = x[rv];
      highest[0] = ((v_) > (v__1) ? (v_) : (v__1));
    }
    for (int32_t j = 0; j < 1024; ++j) {
      x[j] = exp2f(((x[j] - highest[0]) * 1.442695e+00f));
    }
    total[0] = 0.000000e+00f;
    for (int32_t rv_1 = 0; rv_1 < 1024; ++rv_1) {
      total[0] = (total[0] + x[rv_1]);
    }
    for (int32_t j_1 = 0; j_1 < 1024; ++j_1) {
      x[j_1] = (x[j_1] / total[0]);
    }
    for (int32_t i_1 = 0; i_1 < 256; ++i_1) {
      if (i_1 < 250) {
        *(float4*)(Y + ((bx * 1000) + (i_1 * 4))) = *(float4*)(x + (i_1 * 4));
      }
    }
  }
  return 0;
}

