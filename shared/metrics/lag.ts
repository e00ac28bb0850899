/**
 * Buckets for delays of articles, in seconds: from one second to a month, for articles of an
 * archive.
 */
export const LAG_BUCKETS = [
  1, 5, 15, 60, 180, 300, 600, 1_800, 3_600, 7_200, 10_800, 14_400, 28_800, 86_400, 259_200, 604_800, 2_592_000,
]
