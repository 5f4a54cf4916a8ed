/** The guide "Your first morning", followed word by word in a real Chromium. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import type { Download } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { follow, type GuideStep, stepsOf } from '../support/console/guide-steps.ts';
import { startTour, type Tour } from '../support/console/tour.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/first-morning.md'), 'utf8');

withConsole(({ blank, openOffline }) => {
  let tour: Tour;
  beforeAll(async () => {
    tour = await startTour();
  });
  afterAll(() => tour?.end());

  const key = async () =>
    ((await tour.ask('GET', '/v1/checkpoints/latest')) as { key: string }).key;

  /** The path of a file that was in a downloaded zip. */
  const unzipped = async (download: Download, name: string): Promise<string> => {
    const files = unzipSync(readFileSync(await download.path()));
    writeFileSync(join(tour.folder, name), files[name] as Uint8Array);
    return join(tour.folder, name);
  };

  test('each step of the guide does as it says', async () => {
    const links = new Map([
      ['manager:grace', tour.links.manager],
      ['auditor:iris', tour.links.auditor],
    ]);
    let page = await blank();
    await page.goto(tour.url);
    await page.getByText('Open a link that the server printed at its start.').waitFor();
    await expectAccessible(page);
    const downloads: Download[] = [];
    page.on('download', (download) => downloads.push(download));
    const take = async (step: GuideStep) => {
      if (step.does === 'open') await page.goto(links.get(step.what) as string);
      else if (step.does === 'unzip') {
        await expect.poll(() => downloads.length).toBe(1);
        page = await openOffline(await unzipped(downloads[0] as Download, step.what));
      } else if (step.does === 'write' && step.text === 'PUBLIC KEY')
        await follow(page, { ...step, text: await key() });
      else await follow(page, step);
      // A row that moves while it is chosen is missed: the reader waits for the shorter list.
      if (step.does === 'write' && step.what === 'When') {
        await page.waitForURL(/when=/);
        await page.locator('[aria-busy="false"]').waitFor();
      }
    };
    const steps = stepsOf(guide);
    expect(steps.length).toBeGreaterThan(25);
    for (const step of steps) {
      page.setDefaultTimeout(20_000);
      await take(step).catch((error: unknown) => {
        throw new Error(`The guide says: ${JSON.stringify(step)}`, { cause: error });
      });
    }
    const { state } = (await tour.ask('GET', '/v1/trajectories/expenses/state')) as {
      state: { paid: object };
    };
    expect(state.paid).toEqual({ r1: 4_280, r2: 1_850, r3: 93_000, r4: 9_600 });
    expect(tour.payments().map(({ receipt, cents }) => [receipt, cents])).toContainEqual([
      'r3',
      93_000,
    ]);
  });

  test('a used link shows what failed, what to do and whom to ask', async () => {
    const page = await blank();
    await page.goto(tour.links.manager);
    for (const words of [
      'What failed',
      'was used',
      'a command that makes a new link',
      'Whom to ask',
    ])
      await page.getByText(words).first().waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await expectAccessible(page);
    await page.getByText('Begin again').click();
    await page.getByText('You are not signed in').waitFor();
  });
});
