// Finds the item at which a visitor points. While a frame is drawn, the place of each item is recorded as a line
// from (x0, y0) to (x1, y1) in CSS pixels.

/** The place of a drawn item: lane, row number in the lane's table, and a line. */
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
  let closest: Hit | undefined;
  let smallest = within;
  for (const hit of hits) {
    const distance = distanceTo(hit, x, y);
    if (distance <= smallest) {
      closest = hit;
      smallest = distance;
    }
  }
  return closest;
}

/** The distance of a point from the line of an item. */
function distanceTo({ x0, y0, x1, y1 }: Hit, x: number, y: number): number {
  const lengthSquared = (x1 - x0) ** 2 + (y1 - y0) ** 2;
  // Position of the closest point on the line: 0 is its start, 1 its end.
  const along = lengthSquared ? Math.max(0, Math.min(1, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / lengthSquared)) : 0;
  return Math.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0));
}
