import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { WriteContention } from './contention.ts';

let ms = 0;
let log: string[] = [];
beforeEach(() => {
  ms = 0;
  log = [];
});

const pause = async (from: number, to: number): Promise<void> => {
  log.push(`pause ${from}-${to}`);
};

/** A store that grants each write lock, or none. */
const turns = (given = true) => {
  // A write lock that a test leaves has ended in the next test.
  const own = log;
  return {
    acquireWriteLock: async (trajectoryId: string) => {
      own.push(`take ${trajectoryId}`);
      return given ? () => void own.push('end') : undefined;
    },
  };
};

const among = (store = turns()): WriteContention =>
  new WriteContention(store, 't', pause, () => ms);

/** An append as the writer does it. */
async function append(company: WriteContention, others = false): Promise<void> {
  if (company.isOthersTurn) {
    await company.waitForTurn();
    company.read(others);
  }
  company.sent();
  company.committed();
  company.answered();
}

async function lose(company: WriteContention): Promise<void> {
  company.sent();
  company.conflicted();
  company.answered();
  await company.waitForTurn();
  company.read(true);
}

describe('a writer', () => {
  test('that never met another asks for no turn, nor pauses', async () => {
    const company = among();
    for (let n = 0; n < 50; n++) await append(company);
    await company.waitForTurn();
    expect(log).toEqual([]);
  });

  test('that lost a conflict takes the write lock before reloading, and keeps it', async () => {
    const company = among();
    await lose(company);
    expect(log).toEqual(['take t']);
    for (let n = 0; n < 10; n++) {
      ms += 1;
      await append(company);
    }
    expect(log).toEqual(['take t']);
    ms += 20;
    expect(company.isOthersTurn).toBe(true);
    await append(company);
    expect(log).toEqual(['take t', 'end', 'take t']);
  });

  test('with a slow reload holds the write lock longer, within limits', async () => {
    for (const [reading, lasts] of [
      [0, 20],
      [10, 40],
      [1_000, 100],
    ] as const) {
      const company = among();
      company.conflicted();
      await company.waitForTurn();
      ms += reading;
      company.read(true);
      ms += lasts - 1;
      expect(company.isOthersTurn).toBe(false);
      ms += 1;
      expect(company.isOthersTurn).toBe(true);
    }
  });

  test('with nothing to write releases the write lock and takes it again later', async () => {
    const company = among();
    await lose(company);
    await append(company);
    await nextTurn();
    await nextTurn();
    expect(log).toEqual(['take t', 'end']);
    expect(company.isOthersTurn).toBe(true);
  });

  test('with active callers, or waiting for the disk, keeps the write lock', async () => {
    const company = among();
    await lose(company);
    company.sent();
    company.sent();
    company.answered();
    await nextTurn();
    await nextTurn();
    expect(log).toEqual(['take t']);
    company.answered();
    // The caller proposes again immediately.
    company.sent();
    await nextTurn();
    await nextTurn();
    expect(log).toEqual(['take t']);
  });

  test('that never writes in its turn gives it back when it is over', async () => {
    const company = among();
    company.conflicted();
    await company.waitForTurn();
    // Reading failed, or another writer ruled on the proposal: no further call follows.
    while (!log.includes('end')) await sleep(10);
    expect(log).toEqual(['take t', 'end']);
  });

  test('that gave a turn back leaves the next one alone', async () => {
    const company = among();
    await lose(company);
    await append(company);
    // The idle check is still pending when the next write lock is acquired.
    await company.waitForTurn();
    expect(log).toEqual(['take t', 'end', 'take t']);
    await nextTurn();
    await nextTurn();
    expect(log).toEqual(['take t', 'end', 'take t']);
  });

  test('without contention for a few turns takes no write lock until a conflict', async () => {
    const company = among();
    await lose(company);
    for (let n = 0; n < 50; n++) {
      ms += 1_000;
      await append(company);
    }
    const taken = log.filter((what) => what.startsWith('take')).length;
    expect(taken).toBeGreaterThan(4);
    expect(taken).toBeLessThan(12);
    expect(log.filter((what) => what === 'end').length).toBeGreaterThanOrEqual(taken - 1);
    company.read(true);
    ms += 1_000;
    expect(company.isOthersTurn).toBe(true);
  });

  test('that can’t get the write lock writes without it for one lock period', async () => {
    const company = among(turns(false));
    await lose(company);
    await append(company);
    expect(company.isOthersTurn).toBe(false);
    ms += 20;
    await append(company);
    expect(log).toEqual(['take t', 'take t']);
  });
});

describe('a writer that has opened a trajectory', () => {
  test('and has lost all its appends keeps no write lock and takes none', async () => {
    const company = among();
    await lose(company);
    company.opened();
    expect(log).toEqual(['take t', 'end']);
    for (let n = 0; n < 3; n++) {
      ms += 1_000;
      await append(company);
    }
    expect(log).toEqual(['take t', 'end']);
    await lose(company);
    expect(log).toEqual(['take t', 'end', 'take t']);
  });

  test('and has written something, or is about to, keeps its turn', async () => {
    const written = among();
    await lose(written);
    await append(written);
    written.opened();
    const writing = among();
    await lose(writing);
    writing.sent();
    writing.opened();
    expect(log).toEqual(['take t', 'take t']);
  });
});

describe('where the store gives no turns, a writer', () => {
  const alone = (): WriteContention => new WriteContention({}, 't', pause, () => ms);

  test('pauses longer after each conflict, and starts over after an append', async () => {
    const company = alone();
    for (let n = 0; n < 8; n++) await lose(company);
    await append(company);
    await lose(company);
    expect(log).toEqual([1, 2, 4, 8, 16, 32, 32, 32, 1].map((to) => `pause 0-${to}`));
  });

  test('reads nothing again unless it has to', async () => {
    const company = alone();
    await lose(company);
    company.read(true);
    expect(company.isOthersTurn).toBe(false);
  });
});
