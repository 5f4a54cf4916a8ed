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
});
