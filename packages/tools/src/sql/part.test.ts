import { expect, test } from 'vitest';
import { SqlPart } from './part.ts';
import type { SqlRow, SqlValue } from './port.ts';

test('tool functions may mutate their arguments: repeated statements are equal', async () => {
  const asked: SqlValue[][] = [];
  const connection = {
    query: (text: string, values: readonly SqlValue[]): readonly SqlRow[] => {
      if (!/SAVEPOINT assize_[0-9a-f]+$/.test(text)) asked.push([text, ...values]);
      return [{ n: 3 }];
    },
    begin: () => undefined,
    commit: () => undefined,
    rollback: () => undefined,
  };
  const part = new SqlPart({
    name: 'list.sort',
    statements: ({ of }) => [{ text: 'put', values: of.sort() }],
    result: (_, { of }) => of.splice(0),
    undo: ({ of }, was) => [{ text: 'take', values: [of.pop(), was.pop()] }],
  });
  const input = { of: [3, 1, 2] };
  const signal = new AbortController().signal;
  const undoing = part.undoing(input, [7, 8], { key: 'a', signal });
  const rows = {
    undoing: () => undefined,
    undo: () => undefined,
    of: () => ({ isUndone: true }),
  } as never;
  for (let time = 0; time < 2; time++) {
    expect(await part.answer(connection, input, signal)).toEqual([3, 1, 2]);
    await undoing.make(connection, rows);
  }
  expect(asked).toEqual([
    ['put', 1, 2, 3],
    ['take', 2, 8],
    ['put', 1, 2, 3],
    ['take', 2, 8],
  ]);
});
