import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { ANOMALIES, excludes, ISOS, type Iso, level, TABLES } from '../isolation/index.ts';
import { conflicts, type Edge, find, isCyclic, type Visible } from './detect.ts';
import { type Discipline, type ExecutedStep, type Execution, execute } from './execute.ts';
import { type Schedule, type Step, schedule } from './schedule.ts';

/**
 * The executed steps in the paper's notation, with the number of the version that was seen or made.
 */
function shown({ done }: Execution): string {
  return done
    .filter(({ kind }) => kind !== 'begin')
    .map(shownOne)
    .join(' ');
}

function shownOne(one: ExecutedStep): string {
  switch (one.kind) {
    case 'read':
      return `r${one.tx}[${one.item}${one.saw}]`;
    case 'scan':
      return `r${one.tx}[${[...one.rows.keys()].join(',')}]`;
    case 'write':
      return `w${one.tx}[${one.item}${one.made}]`;
    case 'judge':
      return `j${one.tx}=${one.vote}`;
    case 'callback':
      return `cb${one.tx}`;
    case 'begin':
      return `b${one.tx}`;
    case 'commit':
      return `c${one.tx}`;
    case 'abort':
      return `a${one.tx}:${one.why}`;
  }
}

const run = (text: string, under: Discipline): string => shown(execute(schedule(text), under));

describe('the scheduler', () => {
  test.each<[string, Discipline, string]>([
    // A writer holds a row until its end, and a waiting transaction then continues.
    ['w1[x] w2[x] c2 c1', 'none', 'w1[x1] w2[x2] c2 c1'],
    ['w1[x] w2[x] c2 c1', level('RC'), 'w1[x1] c1 w2[x2] c2'],
    ['w1[x] w2[x] c2 c1', level('SI'), 'w1[x1] c1 a2:overwritten'],
    ['w1[x] r2[x] a1 c2', 'none', 'w1[x1] r2[x1] a1:asked c2'],
    ['w1[x] w1[y] a1 r2[x] c2', 'none', 'w1[x1] w1[y2] a1:asked r2[x0] c2'],
    ['w1[x] r2[x] a1 r2[x] c2', level('RC'), 'w1[x1] r2[x0] a1:asked r2[x0] c2'],
    ['w1[x] r2[x] a1 c2', level('SR'), 'w1[x1] a1:asked r2[x0] c2'],
    ['r1[x] w2[x] c2 r1[x] c1', level('RC'), 'r1[x0] w2[x1] c2 r1[x1] c1'],
    ['r1[x] w2[x] c2 r1[x] c1', level('SI'), 'r1[x0] w2[x1] c2 r1[x0] c1'],
    ['r1[x] w2[x] c2 r1[x] c1', level('SR'), 'r1[x0] r1[x0] c1 w2[x1] c2'],
    ['r1[policy:*] w2[policy:a] c2 r1[policy:*] c1', level('SI'), 'r1[] w2[policy:a1] c2 r1[] c1'],
    [
      'r1[policy:*] w2[policy:a] c2 r1[policy:*] c1',
      level('RC'),
      'r1[] w2[policy:a1] c2 r1[policy:a] c1',
    ],
    [
      'r1[policy:*] w2[policy:a] c2 r1[policy:*] c1',
      level('RC', { tablePins: ['policy'] }),
      'r1[] r1[] c1 w2[policy:a1] c2',
    ],
    ['w1[policy:a] r2[policy:*] c2 c1', level('SR'), 'w1[policy:a1] c1 r2[policy:a] c2'],
    ['r1[x] r2[y] w1[y] w2[x] c1 c2', level('SR'), 'r1[x0] r2[y0] a2:deadlock w1[y1] c1'],
    ['r1[x] r2[x] w1[x] w2[x] c1 c2', level('SI'), 'r1[x0] r2[x0] w1[x1] c1 a2:overwritten'],
    // A transaction sees its own writes. A snapshot is that of the first step.
    ['w1[x] r1[x] c1 r2[x] c2', level('SI'), 'w1[x1] r1[x1] c1 r2[x1] c2'],
    ['w1[x] cb1(h) c1', level('RC'), 'w1[x1] cb1 c1'],
    ['w1[x] cb1(h) c1', level('RC', { cb: true }), 'cb1 w1[x1] c1'],
    ['j1(R,θ) j2(R,θ) c2 j1(R,θ) c1', level('SI'), 'j1=0 j2=1 c2 j1=0 c1'],
    ['j1(R,θ) j2(R,θ) c2 j1(R,θ) c1', level('SR'), 'j1=0 j1=0 c1 j2=0 c2'],
    ['j1(R,θ) c1 j2(R,θ) c2', level('RC'), 'j1=0 c1 j2=0 c2'],
    ['j1(R,θ) a1 j2(R,θ) c2', level('RC'), 'j1=0 a1:asked j2=1 c2'],
    ['j1(R) j1(R) c1', level('SR'), 'j1=0 j1=1 c1'],
    // A transaction that never ends holds the row that others wait for.
    ['w1[x] w2[x] c2', level('RC'), 'w1[x1]'],
  ])('%s under %j', (text, under, done) => {
    expect(run(text, under)).toBe(done);
  });

  test('under H1 no transaction commits on a judgement with an uncommitted row', () => {
    const under = (text: string): string =>
      shown(execute(schedule(text), level('RC'), { h1: true }));
    expect(under('j1(R,θ) j2(R,θ) c2 c1')).toBe('j1=0 j2=1 a2:unlogged c1');
    expect(under('j1(R,θ) j2(R,θ) c1 c2')).toBe('j1=0 j2=1 c1 c2');
  });

  test.each([
    'r1',
    'x1[x]',
    'r0[x]',
    'r1[x',
    'r1[x](y)',
    'w1(x)',
    'j1[R]',
    'c1[x]',
    'a',
    'cb1',
    'r1[x]w1[x]',
    'w1[]',
  ])('%j is not a schedule', (text) => {
    expect(errorOf(() => schedule(`c1 ${text}`))).toMatchObject({
      code: 'bad_schedule',
      evidence: { at: text },
    });
  });

  test('an anomaly that can not be looked for, an unknown level', () => {
    const steps = schedule('c1');
    expect(errorOf(() => find('N3' as never, execute(steps, 'none')))).toMatchObject({
      code: 'unknown_anomaly',
    });
    expect(errorOf(() => execute(steps, { iso: 'RR' } as never))).toMatchObject({
      code: 'bad_level',
    });
    expect(errorOf(() => execute('c1' as never, 'none'))).toMatchObject({ code: 'bad_argument' });
  });

  test('a value that is not a string is not a schedule either', () => {
    expect(errorOf(() => schedule(undefined as never))).toMatchObject({ code: 'bad_argument' });
    expect(schedule('')).toEqual([]);
  });
});

// All interleavings of small transactions, under each level. The test compares the anomalies that
// detectors find by versions with the anomalies by positions: when a read occurs, and when others
// commit.

const STEPS = ['r[x]', 'w[x]', 'r[y]', 'w[y]', 'r[policy:*]', 'w[policy:a]'] as const;
type Program = readonly (typeof STEPS)[number][];

function stepsOf(tx: number, program: Program, end: 'c' | 'a' = 'c'): Schedule {
  return schedule([...program.map((step) => step.replace('[', `${tx}[`)), `${end}${tx}`].join(' '));
}

function interleavings<T>(a: readonly T[], b: readonly T[]): readonly (readonly T[])[] {
  const [x, ...as] = a;
  const [y, ...bs] = b;
  if (x === undefined) return [b];
  if (y === undefined) return [a];
  return [
    ...interleavings(as, b).map((rest) => [x, ...rest]),
    ...interleavings(a, bs).map((rest) => [y, ...rest]),
  ];
}

const CHECKED: readonly Visible[] = ['P0', 'P1', 'P2', 'P3', 'P4', 'A5A', 'A5B'];

/**
 * Anomalies by positions in the executed steps. A snapshot read counts at the start of its
 * transaction, any other read at its own position.
 */
function byPlaces(execution: Execution, iso: Iso | 'none'): ReadonlySet<Visible> {
  const { done } = execution;
  const found = new Set<Visible>();
  const place = (tx: number, kinds: readonly string[]): number => {
    const at = done.findIndex((one) => one.tx === tx && kinds.includes(one.kind));
    return at < 0 ? Number.POSITIVE_INFINITY : at;
  };
  const end = (tx: number): number => place(tx, ['commit', 'abort']);
  const commit = (tx: number): number => place(tx, ['commit']);
  const start = (tx: number): number => place(tx, ['begin']);
  const txs = [...new Set(done.map(({ tx }) => tx))];
  const writes = (tx: number, item: string): number[] =>
    done.flatMap((one, at) =>
      one.kind === 'write' && one.tx === tx && one.item === item ? [at] : [],
    );
  const looks = (tx: number, item: string): { at: number; looks: number }[] =>
    done.flatMap((one, at) => {
      const is =
        one.tx === tx &&
        ((one.kind === 'read' && one.item === item) ||
          (one.kind === 'scan' && item === 'policy:*'));
      const isOwn =
        iso !== 'none' &&
        writes(tx, item === 'policy:*' ? 'policy:a' : item).some((write) => write < at);
      return is && !isOwn ? [{ at, looks: iso === 'SI' ? start(tx) : at }] : [];
    });
  const items = ['x', 'y'];
  for (const t1 of txs)
    for (const t2 of txs) {
      if (t1 === t2) continue;
      for (const x of [...items, 'policy:a']) {
        for (const w1 of writes(t1, x))
          for (const w2 of writes(t2, x)) if (w1 < w2 && w2 < end(t1)) found.add('P0');
        if (iso === 'none')
          for (const { at } of looks(t2, x)) {
            const last = writes(t1, x).findLast((write) => write < at) ?? -1;
            const isOver = txs.some((t) =>
              writes(t, x).some((write) => write > last && write < at && !isUndone(t, at)),
            );
            if (last >= 0 && at < end(t1) && !isOver) found.add('P1');
          }
      }
      if (!(commit(t1) < Number.POSITIVE_INFINITY && commit(t2) < Number.POSITIVE_INFINITY))
        continue;
      const wrote = (tx: number, item: string): boolean => writes(tx, item).length > 0;
      for (const x of items) {
        const reads = looks(t1, x);
        if (wrote(t2, x))
          for (const a of reads)
            for (const b of reads)
              if (a.looks < commit(t2) && commit(t2) < b.looks) found.add('P2');
        const write = writes(t1, x).at(-1);
        const last = reads.findLast(({ at }) => at < (write ?? -1));
        if (write !== undefined && last !== undefined && wrote(t2, x))
          if (last.looks < commit(t2) && commit(t2) < commit(t1)) found.add('P4');
        for (const y of items) {
          if (x === y) continue;
          for (const a of looks(t1, x))
            for (const b of looks(t1, y))
              if (wrote(t2, x) && wrote(t2, y) && a.looks < commit(t2) && commit(t2) < b.looks)
                found.add('A5A');
          for (const a of looks(t1, x))
            for (const b of looks(t2, y))
              if (wrote(t2, x) && wrote(t1, y) && !wrote(t1, x) && !wrote(t2, y))
                if (a.looks < commit(t2) && b.looks < commit(t1)) found.add('A5B');
        }
      }
      for (const { looks: at } of looks(t1, 'policy:*'))
        if (wrote(t2, 'policy:a') && at < commit(t2) && commit(t2) < commit(t1)) found.add('P3');
    }
  return found;

  function isUndone(tx: number, at: number): boolean {
    return done.some((one, i) => i < at && one.tx === tx && one.kind === 'abort');
  }
}

/**
 * The anomalies of an execution, and the problems with them. The list of problems is empty for a
 * correct execution.
 */
function judged(
  steps: Schedule,
  iso: Iso,
): { readonly naive: ReadonlySet<Visible>; readonly wrongs: readonly string[] } {
  const execution = execute(steps, level(iso));
  const naive = byPlaces(execution, iso);
  const found = CHECKED.filter((anomaly) => find(anomaly, execution).length > 0);
  const edges = conflicts(execution);
  const problems = [
    ...CHECKED.filter((anomaly) => naive.has(anomaly) !== found.includes(anomaly)).map(
      (one) => `${one} by places`,
    ),
    ...found
      .filter((anomaly) => excludes(level(iso), anomaly as never, 'policy'))
      .map((one) => `${one} is admitted`),
    ...(iso === 'SR' && isCyclic(edges) ? ['a cycle'] : []),
    // A cycle that SI admits has two reads that missed a write.
    ...(iso === 'SI' && isCyclic(edges) && edges.filter(({ kind }) => kind === 'rw').length < 2
      ? ['a bad cycle']
      : []),
  ];
  return {
    naive,
    wrongs: problems.map((problem) => `${problem}: ${shown(execution)} under ${iso}`),
  };
}

test('all interleavings of two transactions of two steps, under each level', () => {
  const programs: readonly Program[] = STEPS.flatMap((a) => STEPS.map((b) => [a, b] as const));
  const problems: string[] = [];
  const met = new Set<string>();
  for (const [i, one] of programs.entries())
    for (const other of programs.slice(i))
      for (const steps of interleavings(stepsOf(1, one), stepsOf(2, other)))
        for (const iso of ISOS) {
          const { naive, wrongs } = judged(steps, iso);
          problems.push(...wrongs);
          for (const anomaly of naive) met.add(`${anomaly} ${iso}`);
        }
  expect(problems.slice(0, 10)).toEqual([]);
  // Every anomaly that is not excluded occurs, so the guards are tight.
  expect([...met].sort()).toEqual([
    'A5A RC',
    'A5B RC',
    'A5B SI',
    'P2 RC',
    'P3 RC',
    'P3 SI',
    'P4 RC',
  ]);
});

test('below RC dirty writes and reads occur exactly where positions predict', () => {
  const programs: readonly Program[] = (['r[x]', 'w[x]'] as const).flatMap((a) =>
    (['r[x]', 'w[x]', 'w[y]'] as const).map((b) => [a, b]),
  );
  let met = 0;
  for (const one of programs)
    for (const other of programs)
      for (const end of ['c', 'a'] as const)
        for (const steps of interleavings(stepsOf(1, one, end), stepsOf(2, other))) {
          const execution = execute(steps, 'none');
          const naive = byPlaces(execution, 'none');
          for (const anomaly of ['P0', 'P1'] as const) {
            if (naive.has(anomaly)) met += 1;
            if (naive.has(anomaly) !== find(anomaly, execution).length > 0)
              expect.fail(`${anomaly}: ${shown(execution)}`);
          }
        }
  expect(met).toBeGreaterThan(100);
});

const programs = fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 4 });

test('three transactions of up to four steps, in orders that chance has', () => {
  const merged = fc
    .tuple(
      fc.array(programs, { minLength: 3, maxLength: 3 }),
      fc.array(fc.nat(2), { minLength: 20, maxLength: 20 }),
    )
    .map(([three, order]) => {
      const left = three.map((program, i) => [...stepsOf(i + 1, program)]);
      const steps: Step[] = order.flatMap((i) => left[i]!.splice(0, 1));
      return [...steps, ...left.flat()];
    });
  fc.assert(
    fc.property(merged, fc.constantFrom(...ISOS), (steps, iso) => {
      const { wrongs } = judged(steps, iso);
      if (wrongs.length > 0) throw new Error(wrongs.join('\n'));
    }),
    { numRuns: cases(2_000) },
  );
});

test('serializable: the final state equals that of some serial order', () => {
  // Each write sums all values that its transaction has seen. The final state therefore identifies
  // the reads.
  const summing = (tx: number, program: Program): Schedule =>
    stepsOf(tx, program).map((step) =>
      step.kind === 'write'
        ? {
            ...step,
            value: (seen) => 10 ** tx + [...seen.values()].reduce((sum, value) => sum + value, 0),
          }
        : step,
    );
  const initial = new Map([
    ['x', 1],
    ['y', 2],
  ]);
  const endOf = (steps: Schedule): string =>
    JSON.stringify([...execute(steps, level('SR'), { initial }).values].sort());
  fc.assert(
    fc.property(programs, programs, fc.integer({ min: 0, max: 1_000 }), (a, b, nth) => {
      const [one, two] = [summing(1, a), summing(2, b)];
      const all = interleavings(one, two);
      const steps = all[nth % all.length]!;
      const { committed } = execute(steps, level('SR'), { initial });
      const kept = [one, two].filter((_, i) => committed.has(i + 1));
      const serial = [kept.flat(), kept.toReversed().flat()].map(endOf);
      if (!serial.includes(endOf(steps)))
        throw new Error(shown(execute(steps, level('SR'), { initial })));
      if (committed.size === 0) throw new Error('both were aborted');
    }),
    { numRuns: cases(1_000) },
  );
});

test('a pin holds its table as serializable, and the others as they were', () => {
  const text = 'r1[x] r1[policy:*] w2[x] w3[policy:a] c2 c3 r1[x] r1[policy:*] c1';
  const pinned = execute(schedule(text), level('RC', { tablePins: ['policy'] }));
  expect(find('P2', pinned)).toEqual([{ txs: [1, 2].slice(0, 1), items: ['x'] }]);
  expect(find('P3', pinned)).toEqual([]);
  for (const table of TABLES) {
    const of = level('RC', { tablePins: [table] });
    expect(ANOMALIES.filter((anomaly) => excludes(of, anomaly, table)).length).toBe(
      7 + Number(table === 'judge_log') + Number(table === 'facts'),
    );
  }
});

test('conflicts follow the positions: ww, wr, and rw for a read before a write', () => {
  const edges = (text: string, under: Discipline): string[] =>
    conflicts(execute(schedule(text), under))
      .map(({ from, kind, to, item }) => `${from} ${kind} ${to} ${item}`)
      .sort();
  expect(edges('r1[x] r2[y] w1[y] w2[x] c1 c2', level('SI'))).toEqual(['1 rw 2 x', '2 rw 1 y']);
  expect(edges('r1[x] w2[x] w1[x] c2 c1', level('RC'))).toEqual(['1 rw 2 x', '2 ww 1 x']);
  expect(edges('w1[x] c1 r2[x] w3[x] c3 c2', level('SI'))).toEqual([
    '1 wr 2 x',
    '1 ww 3 x',
    '2 rw 3 x',
  ]);
  expect(edges('r1[policy:*] w2[policy:a] c2 r1[policy:*] c1', level('RC'))).toEqual([
    '1 rw 2 policy:a',
    '2 wr 1 policy:a',
  ]);
  expect(edges('j1(R,θ) c1 j2(R,θ) c2', level('RC'))).toEqual(['1 wr 2 judge_log:R,θ']);
  expect(edges('w1[x] r2[x] a1 w2[x] c2', level('RC'))).toEqual([]);
});

test('two transactions with any of P2 to A5B but P3 have a cycle of conflicts', () => {
  const cyclic: Visible[] = ['P2', 'P4', 'A5A', 'A5B'];
  fc.assert(
    fc.property(programs, programs, fc.nat(10_000), fc.constantFrom(...ISOS), (a, b, nth, iso) => {
      const all = interleavings(stepsOf(1, a), stepsOf(2, b));
      const execution = execute(all[nth % all.length]!, level(iso));
      const isMet = cyclic.some((anomaly) => find(anomaly, execution).length > 0);
      if (isMet && !isCyclic(conflicts(execution))) throw new Error(shown(execution));
    }),
    { numRuns: cases(1_000) },
  );
});

test('a graph is cyclic exactly if no order of its nodes follows all edges', () => {
  const orders = permutations([1, 2, 3, 4]);
  const node = fc.integer({ min: 1, max: 4 });
  const graphs = fc.array(fc.tuple(node, node), { maxLength: 7 });
  fc.assert(
    fc.property(graphs, (pairs) => {
      const edges = pairs
        .filter(([a, b]) => a !== b)
        .map(([from, to]): Edge => ({ from, to, kind: 'rw', item: 'x' }));
      const isOrdered = orders.some((order) =>
        edges.every(({ from, to }) => order.indexOf(from) < order.indexOf(to)),
      );
      expect(isCyclic(edges)).toBe(!isOrdered);
    }),
    { numRuns: cases(1_000) },
  );
});

function permutations<T>(list: readonly T[]): readonly (readonly T[])[] {
  if (list.length === 0) return [[]];
  return list.flatMap((one, i) => permutations(list.toSpliced(i, 1)).map((rest) => [one, ...rest]));
}
