import { expect, test } from 'vitest';
import { RuntimeError } from '../errors.ts';
import { COMMIT_ATTEMPTS_MAX } from './prepared.ts';
import { type Plan, type Ruled, untilCommitted } from './until-committed.ts';
import type { Writer } from './writer.ts';

const LOST = Symbol('lost');

/** A writer whose appends end as `commits` says, and whose checks find other writers or none. */
function writerThat(commits: readonly unknown[] = [], behind: readonly boolean[] = []) {
  const log: string[] = [];
  const ends = [...commits];
  const checks = [...behind];
  const writer = {
    stale: false,
    generation: 0,
    parts: { chain: { seq: 1 } },
    ready: async () => {
      log.push('ready');
      writer.stale = false;
    },
    isBehind: async () => {
      log.push('isBehind');
      if (checks.shift() !== true) return false;
      writer.generation++;
      writer.stale = true;
      return true;
    },
    isAppendError: (): boolean => false,
    commit: async ({ answer }: { answer: unknown }) => {
      log.push('commit');
      const end = ends.shift();
      if (end instanceof Error) throw end;
      if (end !== LOST) return answer;
      writer.generation++;
      writer.stale = true;
      return undefined;
    },
    conflictError: async () => new RuntimeError('conflict', 'Others were faster. Try again.'),
  };
  return { writer, log, as: writer as unknown as Writer };
}

const prepared = (answer: string) => ({ rows: [], answer }) as unknown as Ruled<string>;
const bad = () => new RuntimeError('bad_writ', 'The writ is not valid. Pass another one.');

/** A plan that returns these steps one after the other, and counts itself. */
function planOf(log: string[], ...rules: (() => Ruled<string>)[]): Plan<string> {
  return async () => {
    log.push('plan');
    return () => {
      log.push('rule');
      return rules.length > 1 ? rules.shift()!() : rules[0]!();
    };
  };
}

test('an entry that loses to another writer is planned and ruled again', async () => {
  const { as, log } = writerThat([LOST]);
  expect(
    await untilCommitted(
      as,
      planOf(log, () => prepared('a')),
    ),
  ).toBe('a');
  expect(log).toEqual(['plan', 'rule', 'commit', 'ready', 'plan', 'rule', 'commit']);
});

test('nothing awaits between the ruling and the append', async () => {
  const { as, log } = writerThat();
  const rule = () => {
    queueMicrotask(() => log.push('microtask'));
    return prepared('a');
  };
  await untilCommitted(as, planOf(log, rule));
  expect(log.slice(0, 4)).toEqual(['plan', 'rule', 'commit', 'microtask']);
});

test('a needed read keeps the plan, and makes a new one if memory has moved', async () => {
  for (const moves of [false, true]) {
    const { as, writer, log } = writerThat();
    const needs = async () => {
      log.push('read');
      if (moves) writer.parts.chain.seq++;
    };
    expect(
      await untilCommitted(
        as,
        planOf(
          log,
          () => ({ needs }),
          () => prepared('a'),
        ),
      ),
    ).toBe('a');
    expect(log).toEqual(['plan', 'rule', 'read', ...(moves ? ['plan'] : []), 'rule', 'commit']);
  }
});

test('a plan is made again if another caller reads memory again meanwhile', async () => {
  const { as, writer, log } = writerThat();
  let isFirst = true;
  const answer = await untilCommitted(as, async () => {
    log.push('plan');
    await Promise.resolve();
    if (isFirst) writer.generation++;
    isFirst = false;
    return () => prepared('a');
  });
  expect([answer, log]).toEqual(['a', ['plan', 'plan', 'commit']]);
});

test('an error of an append in a plan is thrown immediately', async () => {
  const { as, writer, log } = writerThat([], [true]);
  writer.isAppendError = () => true;
  const attempt = untilCommitted(as, () => {
    log.push('plan');
    throw bad();
  });
  await expect(attempt).rejects.toMatchObject({ code: 'bad_writ' });
  expect(log).toEqual(['plan']);
});

test('needed reads are not counted; lost appends and outdated plans are', async () => {
  const many = Array.from({ length: 100 }, () => () => ({ needs: async () => undefined }));
  const free = writerThat();
  expect(
    await untilCommitted(
      free.as,
      planOf(free.log, ...many, () => prepared('a')),
    ),
  ).toBe('a');
  for (const [commits, rule] of [
    [Array(COMMIT_ATTEMPTS_MAX).fill(LOST), () => prepared('a')],
    [[], () => undefined],
  ] as const) {
    const { as, log } = writerThat(commits);
    await expect(untilCommitted(as, planOf(log, rule))).rejects.toMatchObject({ code: 'conflict' });
    expect(log.filter((each) => each === 'plan')).toHaveLength(COMMIT_ATTEMPTS_MAX);
  }
});

test.each(['plan', 'rule', 'read'])(
  'an error of a %s counts only if memory was current',
  async (where) => {
    for (const behind of [false, true]) {
      const { as, log } = writerThat([], [behind]);
      let isFirst = true;
      const fails = (at: string) => {
        if (at !== where || !isFirst) return;
        isFirst = false;
        throw bad();
      };
      const attempt = untilCommitted(as, () => {
        log.push('plan');
        fails('plan');
        return () => {
          fails('rule');
          return where === 'read' && isFirst ? { needs: async () => fails('read') } : prepared('a');
        };
      });
      if (behind) expect(await attempt).toBe('a');
      else await expect(attempt).rejects.toMatchObject({ code: 'bad_writ' });
      expect(log.filter((each) => each === 'plan')).toHaveLength(behind ? 2 : 1);
    }
  },
);

test('an error that is not of the package is thrown immediately', async () => {
  const { as, log } = writerThat([], [true]);
  const rule = () => {
    throw new TypeError('a fault of the domain');
  };
  await expect(untilCommitted(as, planOf(log, rule))).rejects.toThrow(TypeError);
  expect(log).toEqual(['plan', 'rule']);
});

test('an error of the append is never tried again, unless the caller says so', async () => {
  const unknown = new RuntimeError('commit_unknown', 'The store did not confirm. Look up the id.');
  const one = writerThat([unknown], [true]);
  await expect(
    untilCommitted(
      one.as,
      planOf(one.log, () => prepared('a')),
    ),
  ).rejects.toBe(unknown);
  expect(one.log).toEqual(['plan', 'rule', 'commit']);
  const other = writerThat([unknown]);
  expect(
    await untilCommitted(
      other.as,
      planOf(other.log, () => prepared('a')),
      (error) => error === unknown,
    ),
  ).toBe('a');
  expect(other.log.filter((each) => each === 'commit')).toHaveLength(2);
});

test('an answer without an entry, or of an earlier entry, ends the loop', async () => {
  for (const behind of [false, true]) {
    const { as, log } = writerThat([], [behind]);
    const first = () => ({ unrecorded: 'frozen' });
    expect(
      await untilCommitted(
        as,
        planOf(log, first, () => prepared('a')),
      ),
    ).toBe(behind ? 'a' : 'frozen');
  }
  const { as, log } = writerThat();
  expect(await untilCommitted(as, async () => ({ answer: 'before' }))).toBe('before');
  expect(log).toEqual([]);
});

test('a step of a plan whose memory went stale is not run', async () => {
  const { as, writer, log } = writerThat();
  let isFirst = true;
  const plan = planOf(log, () => prepared('a'));
  await untilCommitted(as, async () => {
    const step = await plan();
    if (isFirst) writer.stale = true;
    isFirst = false;
    return step;
  });
  expect(log).toEqual(['plan', 'ready', 'plan', 'rule', 'commit']);
});
