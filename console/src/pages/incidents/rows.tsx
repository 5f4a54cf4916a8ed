import { List } from '@mantine/core';
import type { ReactNode } from 'react';

/** More entries than this are a list, and no drawing. A list shows this many rows. */
export const SHOWN_MAX = 200;

interface RowsProps<Row> {
  readonly rows: readonly Row[];
  /** Of all, where `rows` are only the first. */
  readonly count?: number;
  /** In pixels. */
  readonly spacing?: number;
  readonly children: (row: Row) => ReactNode;
}

/** The first rows, and the number of the others. A page with all of thousands would not move. */
export function Rows<Row>({ rows, count = rows.length, spacing = 2, children }: RowsProps<Row>) {
  const more = count - SHOWN_MAX;
  return (
    <List size="sm" spacing={spacing}>
      {rows.slice(0, SHOWN_MAX).map(children)}
      {more > 0 && <List.Item>and {more.toLocaleString('en')} more</List.Item>}
    </List>
  );
}
