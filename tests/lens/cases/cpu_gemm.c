// tilelang target: {"kind":"c","tag":"","keys":["cpu"],"host":{"kind":"c","tag":"","keys":["cpu"]}}
#include <tl_templates/cpp/common.h>

#ifdef __cplusplus
extern "C"
#endif
int32_t gemm_kernel(float* A, float* B, float* C);
#ifdef __cplusplus
extern "C"
#endif
int32_t gemm_kernel(float* A, float* B, float* C) {
  float acc[4096];
  float A_shared[2048];
  float B_shared[2048];
  for (int32_t i = 0; i < 64; ++i) {
    for (int32_t j = 0; j < 16; ++j) {
      float broadcast_var = 0.000000e+00f;
      *(float4*)(acc + ((i * 64) + (j * 4))) = ((float4)(broadcast_var, broadcast_var, broadcast_var, broadcast_var));
    }
  }
  for (int32_t k = 0; k < 2; ++k) {
    for (int32_t i_j_fused = 0; i_j_fused < 512; ++i_j_fused) {
      *(float4*)(A_shared + (i_j_fused * 4)) = *(float4*)(A + ((((i_j_fused >> 3) * 64) + (k * 32)) + ((i_j_fused & 7) * 4)));
    }
    for (int32_t i_j_fused_1 = 0; i_j_fused_1 < 512; ++i_j_fused_1) {
      *(float4*)(B_shared + (i_j_fused_1 * 4)) = *(float4*)(B + ((k * 2048) + (i_j_fused_1 * 4)));
    }
    for (int32_t i_1 = 0; i_1 < 64; ++i_1) {
      for (int32_t j_1 = 0; j_1 < 64; ++j_1) {
        for (int32_t k_1 = 0; k_1 < 32; ++k_1) {
          acc[((i_1 * 64) + j_1)] = (acc[((i_1 * 64) + j_1)] + (A_shared[((i_1 * 32) + k_1)] * B_shared[((k_1 * 64) + j_1)]));
        }
      }
    }
  }
  for (int32_t i_j_fused_2 = 0; i_j_fused_2 < 1024; ++i_j_fused_2) {
    *(float4*)(C + (i_j_fused_2 * 4)) = *(float4*)(acc + (i_j_fused_2 * 4));
  }
  return 0;
}

