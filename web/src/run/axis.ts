/** Distance of the axis labels: 1, 2 or 5 times a power of ten, at least 64 px. */
export function stepFor(span: { from_s: number; to_s: number }, pixels: number): number {
  const minimum = ((span.to_s - span.from_s) * 64) / Math.max(pixels, 1);
  const power = 10 ** Math.floor(Math.log10(minimum));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= minimum) ?? 10 * power;
}
