// The content of a lane in the view, from the tiles that are loaded: items (rows of a table: segments, PDUs, states, …)
// or, where they are too dense, cells of equal length with a value: the number of items, the share of time of a category,
// or the largest value.
import type { Schemas } from '../../api/client';
import type { Lane } from '../areas';
import { type Frame, type Source, xOf } from './frame';

/** A row of a table, drawn from its start to its end. */
export interface Item {
  /** Number of the row; -1 for a cell that is drawn like an item. */
  row: number;
  start: number;
  end: number;
  /** Ends of the range of values, such as sequence numbers. They are equal if the item has one value. */
  low: number;
  high: number;
  /** An instant between start and end that the drawing shows, for example the arrival at the RNC. */
  middle: number | null;
  /** Index of the category in the lane. */
  category: number;
}

/** The value of a category in a cell. A cell can have several categories. */
export interface Cell {
  /** Number of the cell in its tile. */
  index: number;
  category: number;
  value: number;
}

/** Cells that fill the same columns of pixels. */
export interface CellColumn {
  x: number;
  width: number;
  cells: Cell[];
}

/** Items and cells as the server sends them. */
type ItemTuple = NonNullable<Schemas['LaneTile']['items']>[number];
type CellTuple = NonNullable<Schemas['LaneTile']['cells']>[number];

const itemOfTuple = ([row, start, end, low, high, middle, category]: ItemTuple): Item => ({ row, start, end, low, high, middle, category });
const cellOfTuple = ([index, category, value]: CellTuple): Cell => ({ index, category, value });

/** Kinds of lanes that are drawn for the second run too. Other kinds would cover the items of the first run. */
const SECOND_RUN_KINDS: readonly string[] = ['line', 'steps', 'dashed_steps', 'filled'];

/** The items of a lane in view. Undefined if the lane has cells. An item that spans several tiles is in each of them. */
export function itemsOf(frame: Frame, lane: string, source: Source = frame): Item[] | undefined {
  const byRow = new Map<number, Item>();
  let hasItems = false;
  for (const tile of source.shown.tiles) {
    const { items } = tile.lanes.find((content) => content.name === lane) ?? {};
    if (!items) continue;
    hasItems = true;
    for (const tuple of items) {
      const [row, start, end] = tuple;
      if (end >= frame.from && start <= frame.to) byRow.set(row, itemOfTuple(tuple));
    }
  }
  return hasItems ? [...byRow.values()] : undefined;
}

/** Items of a lane of the second run, if it has single items at its level. */
export function itemsOfSecondRun(frame: Frame, lane: Lane): Item[] {
  const { other } = frame;
  return (other && SECOND_RUN_KINDS.includes(lane.draw) && itemsOf(frame, lane.name, other)) || [];
}

/** The cells of a lane in view, by the column of pixels that they fill. */
export function cellsOf(frame: Frame, lane: string, source: Source = frame): CellColumn[] {
  const { shown, head } = source;
  const { tile_s, cell_s } = shown.level;
  const columns: CellColumn[] = [];
  for (const tile of shown.tiles) {
    const { cells } = tile.lanes.find((content) => content.name === lane) ?? {};
    const byIndex = new Map<number, Cell[]>();
    for (const cell of (cells ?? []).map(cellOfTuple)) byIndex.set(cell.index, [...(byIndex.get(cell.index) ?? []), cell]);
    for (const [index, cellsOfIndex] of byIndex) {
      const start = tile.index * tile_s + index * cell_s;
      const x = Math.round(xOf(frame, start));
      const width = Math.max(1, Math.round(xOf(frame, start + cell_s)) - x);
      if (index < head.cells && x + width >= 0 && x <= frame.width) columns.push({ x, width, cells: cellsOfIndex });
    }
  }
  return columns;
}

/** Values over time: items, or cells as items without a row. */
export function stepsOf(frame: Frame, lane: Lane, source: Source = frame): Item[] {
  const items = itemsOf(frame, lane.name, source);
  if (items) return items;
  const { level, tiles } = source.shown;
  return tiles.flatMap((tile) => {
    const { cells } = tile.lanes.find((content) => content.name === lane.name) ?? {};
    return (cells ?? []).map(cellOfTuple).flatMap(({ index, category, value }): Item[] => {
      const start = tile.index * level.tile_s + index * level.cell_s;
      const end = start + level.cell_s;
      const isSeen = end >= frame.from && start <= frame.to;
      return isSeen ? [{ row: -1, start, end, low: value, high: value, middle: null, category }] : [];
    });
  });
}
