import { beforeEach, describe, expect, test } from 'vitest';
import { Company } from './company.ts';

let pauses: [from: number, to: number][];
beforeEach(() => {
  pauses = [];
});

const pause = async (from: number, to: number): Promise<void> => {
  pauses.push([from, to]);
};

/** An append as the writer does it. */
async function append(company: Company): Promise<void> {
  if (company.isTheirTurn) await company.letIn();
  company.won();
}

describe('pauses', () => {
  test('of a writer that never met another: none', async () => {
    const company = new Company(pause);
    for (let n = 0; n < 50; n++) await append(company);
    expect(pauses).toEqual([]);
  });

  test('of one that met another: a few, until it is alone again', async () => {
    const company = new Company(pause);
    company.met();
    for (let n = 0; n < 50; n++) await append(company);
    expect(pauses.length).toBeGreaterThan(2);
    expect(pauses.length).toBeLessThan(12);
    company.met();
    pauses = [];
    await append(company);
    expect(pauses).toHaveLength(1);
  });

  test('grow with each loss in a row, are as long as tries take, and begin anew after an append', async () => {
    let ms = 0;
    const company = new Company(pause, () => (ms += 10));
    const lose = async (): Promise<void> => {
      company.lost();
      await company.letIn();
    };
    for (let n = 0; n < 5; n++) await lose();
    expect(pauses).toEqual([
      [0, 2],
      [0, 10],
      [0, 20],
      [0, 40],
      [0, 80],
    ]);
    company.won();
    pauses = [];
    // Crowded as it was, much room is left.
    await company.letIn();
    expect(pauses[0]![0]).toBeGreaterThan(80);
    await lose();
    expect(pauses[1]).toEqual([0, 5]);
  });

  describe('of one that met others and then had nothing to write', () => {
    const HOUR = 3_600_000;
    let ms = 0;
    let company: Company;
    beforeEach(() => {
      company = new Company(pause, () => ms);
    });

    /** Writes among others, until it leaves them room. */
    async function crowd(): Promise<void> {
      for (let n = 0; n < 5; n++) {
        company.lost();
        await company.letIn();
      }
      company.won();
      expect(company.isTheirTurn).toBe(true);
      pauses = [];
    }

    test('for a moment: as ever', async () => {
      await crowd();
      ms += 10;
      expect(company.isTheirTurn).toBe(true);
      await append(company);
      expect(pauses).toHaveLength(1);
    });

    test('for long: none, also when it reads anew, and none of those that were left over', async () => {
      await crowd();
      ms += HOUR;
      expect(company.isTheirTurn).toBe(false);
      await company.letIn();
      for (let n = 0; n < 5; n++) await append(company);
      expect(pauses).toEqual([]);
    });

    test('for long, after it had lost: none, and the next loss is the first', async () => {
      for (let n = 0; n < 5; n++) company.lost();
      ms += HOUR;
      await company.letIn();
      expect(pauses).toEqual([]);
      company.lost();
      await company.letIn();
      expect(pauses).toEqual([[0, 0.5]]);
    });

    test('for long, whose next append is the one that it meets nobody with: none', async () => {
      await crowd();
      ms += HOUR;
      company.won();
      for (let n = 0; n < 5; n++) await append(company);
      expect(pauses).toEqual([]);
    });

    test('for long, and meets them again: as with the first', async () => {
      await crowd();
      ms += HOUR;
      company.met();
      company.won();
      await append(company);
      expect(pauses).toEqual([[4, 8]]);
    });
  });
});
