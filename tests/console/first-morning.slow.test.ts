/** The guide "Your first morning", followed word by word in a real Chromium. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withConsole } from '../support/console/browser.ts';
import { follow, stepsOf } from '../support/console/guide-steps.ts';
import { startTour, type Tour } from '../support/console/tour.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/first-morning.md'), 'utf8');

withConsole(({ blank }) => {
  let tour: Tour;
  beforeAll(async () => {
    tour = await startTour();
  });
  afterAll(() => tour?.end());

  test('each step of the guide does as it says', async () => {
    const links = new Map([
      ['manager:grace', tour.links.manager],
      ['auditor:iris', tour.links.auditor],
    ]);
    const page = await blank();
    const steps = stepsOf(guide);
    expect(steps.length).toBeGreaterThan(10);
    for (const step of steps) {
      const failed = (error: unknown) => {
        throw new Error(`The guide says: ${JSON.stringify(step)}`, { cause: error });
      };
      page.setDefaultTimeout(20_000);
      await follow(page, step, links).catch(failed);
    }
    const { state } = (await tour.ask('GET', '/v1/trajectories/expenses/state')) as { state: { paid: object } };
    expect(state.paid).toEqual({ r1: 4_280, r2: 1_850, r3: 93_000, r4: 9_600 });
    expect(tour.payments().map(({ receipt, cents }) => [receipt, cents])).toContainEqual(['r3', 93_000]);
  });
});
