/** The place of a drawn item. */
export interface Hit {
  lane: string;
  row: number;
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/** The item closest to a point, within a distance in pixels. */
export function nearest(hits: Hit[], x: number, y: number, within: number): Hit | undefined {
  let best: Hit | undefined;
  let least = within;
  for (const hit of hits) {
    const distance = away(hit, x, y);
    if (distance <= least) {
      best = hit;
      least = distance;
    }
  }
  return best;
}

function away({ x0, y0, x1, y1 }: Hit, x: number, y: number): number {
  const length = (x1 - x0) ** 2 + (y1 - y0) ** 2;
  const along = length ? Math.max(0, Math.min(1, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length)) : 0;
  return Math.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0));
}
