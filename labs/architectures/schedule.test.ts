import { expect, test } from 'vitest';
import { Choices } from './draw/index.ts';
import {
  allSchedules,
  type Schedule,
  schedulesOf,
  someSchedules,
  stepsOf,
  withoutTurn,
} from './schedule.ts';
import { rawInterleavings } from './testing/naive-search.ts';

const SIZES: [agents: number, turns: number][] = [
  [1, 1],
  [1, 3],
  [2, 1],
  [2, 2],
  [3, 1],
];

/** The reads between two submissions in one order, because none of them changes anything. */
function normal(steps: readonly { readonly does: string; readonly agent: number }[]): string {
  const gaps: string[][] = [[]];
  for (const { does, agent } of steps)
    if (does === 'read') gaps.at(-1)?.push(`r${agent}`);
    else gaps.push([`s${agent}`]);
  return gaps
    .map(([first = '', ...rest]) =>
      first[0] === 's' ? [first, ...rest.sort()] : [first, ...rest].sort(),
    )
    .join(' | ');
}

const written = (schedule: Schedule): string =>
  normal(
    stepsOf(schedule).map(({ does, turn }) => ({ does, agent: schedule[turn]?.agent as number })),
  );

test.each(SIZES)(
  'schedules of %i agents with %i turns are all interleavings, once',
  (agents, turns) => {
    const raw = [...rawInterleavings(agents, turns)].filter(
      ({ length }) => length === 2 * agents * turns,
    );
    const found = [...schedulesOf(agents, turns)].map(written);
    expect(new Set(found).size).toBe(found.length);
    expect([...found].sort()).toEqual([...new Set(raw.map(normal))].sort());
  },
);

test('all schedules are listed only up to the wanted number', () => {
  expect(allSchedules(2, 1, 4)).toHaveLength(4);
  expect(allSchedules(2, 1, 3)).toBeUndefined();
});

test('drawn schedules are possible, different, and in time all', () => {
  const possible = new Set([...schedulesOf(3, 1)].map((each) => JSON.stringify(each)));
  const drawn = someSchedules(3, 1, 36, new Choices(6)).map((each) => JSON.stringify(each));
  expect(new Set(drawn).size).toBe(drawn.length);
  expect(drawn.every((each) => possible.has(each))).toBe(true);
  expect(drawn).toHaveLength(possible.size);
  expect(someSchedules(3, 1, 5, new Choices(6))).toHaveLength(5);
});

test('a schedule without a turn keeps later reads between the same submissions', () => {
  const schedule = [
    { agent: 0, readAfter: 0 },
    { agent: 1, readAfter: 1 },
    { agent: 2, readAfter: 0 },
  ];
  expect(withoutTurn(schedule, 0)).toEqual([
    { agent: 1, readAfter: 0 },
    { agent: 2, readAfter: 0 },
  ]);
  expect(withoutTurn(schedule, 1)).toEqual([
    { agent: 0, readAfter: 0 },
    { agent: 2, readAfter: 0 },
  ]);
});
