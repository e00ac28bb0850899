export const rounded = (value: number) => Math.round(value * 100) / 100
