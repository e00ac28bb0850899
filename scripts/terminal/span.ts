/** A length of time in one unit, as `90s` or `3h`. */
export function span(ms: number): string {
  const [amount, unit] =
    ms < 120_000
      ? [ms / 1_000, 's']
      : ms < 7_200_000
        ? [ms / 60_000, 'm']
        : ms < 172_800_000
          ? [ms / 3_600_000, 'h']
          : [ms / 86_400_000, 'd']
  return `${Math.round(amount)}${unit}`
}
