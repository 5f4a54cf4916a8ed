/**
 * The guide "Your first incident", followed word by word in a real Chromium and a shell. With
 * `ASSIZE_SCREENSHOTS` the test writes the pictures of the guide into that folder.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import type { Download, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { escaped, follow } from '../support/console/guide-steps.ts';
import { type WalkStep, walkOf } from '../support/console/guide-walk.ts';
import { expectFitting } from '../support/console/page-checks.ts';
import { startTerminal, type Terminal } from '../support/console/terminal.ts';
import { startTour, type Tour } from '../support/console/tour.ts';

const root = join(import.meta.dirname, '../..');
const guide = readFileSync(join(root, 'docs/guide/first-incident.md'), 'utf8');
const pictures = process.env['ASSIZE_SCREENSHOTS'];

withConsole(({ blank, openOffline }) => {
  let tour: Tour;
  let terminal: Terminal;
  beforeAll(async () => {
    tour = await startTour();
    await decideAsInTheFirstMorning();
    // `npx assize` and `npx assize-experiments` of a clone.
    const npx = join(tour.folder, 'npx');
    const mains = ['packages/cli/src/main.ts', 'labs/cli/main.ts'].map((main) => join(root, main));
    writeFileSync(
      npx,
      `#!/bin/sh\nname=$1; shift\ncase $name in assize) main="${mains[0]}";; *) main="${mains[1]}";; esac\n` +
        `exec "${process.execPath}" "$main" "$@"\n`,
    );
    chmodSync(npx, 0o755);
    terminal = startTerminal(tour.folder, `${tour.folder}:${process.env['PATH']}`);
  });
  afterAll(async () => {
    await terminal?.end();
    await tour?.end();
  });

  async function decideAsInTheFirstMorning(): Promise<void> {
    const { approvals } = (await tour.ask('GET', '/v1/approvals')) as { approvals: any[] };
    const [{ id, digest, action }] = approvals;
    const body = {
      digest,
      args: { ...action.args, cents: 93_000 },
      reason: 'The hotel wrote: three nights.',
    };
    await tour.ask('POST', `/v1/approvals/${id}/approve`, { as: 'manager', body });
  }

  const here = (command: string): string =>
    command.replaceAll('http://127.0.0.1:4517', tour.url).replaceAll('/tmp/', `${tour.folder}/`);

  /** `seen`: the text that the guide has just named. */
  async function picture(page: Page, name: string, seen: string): Promise<void> {
    await expectFitting(page);
    await expectAccessible(page);
    if (pictures === undefined) return;
    mkdirSync(pictures, { recursive: true });
    const place = page.getByText(seen).first();
    await place.evaluate((element) => element.scrollIntoView({ block: 'nearest' }));
    await page.getByText('Decided: committed').waitFor({ state: 'hidden' });
    await page.screenshot({ path: join(pictures, name) });
  }

  test('each step of the guide does as it says', async () => {
    const links = new Map([
      ['manager:grace', tour.links.manager],
      ['auditor:iris', tour.links.auditor],
    ]);
    const windows = new Map<string, Page>();
    const downloads = new Map<string, Download>();
    let [printed, seen] = ['', ''];
    let page: Page;

    const fileOf = async (extension: string): Promise<string> => {
      await expect.poll(() => downloads.has(extension)).toBe(true);
      return (await downloads.get(extension)?.path()) as string;
    };
    const signedIn = async (person: string): Promise<Page> => {
      const window = await blank();
      await window.setViewportSize({ width: 1280, height: 720 });
      window.setDefaultTimeout(20_000);
      window.on('download', (download) =>
        downloads.set(download.suggestedFilename().split('.').at(-1) as string, download),
      );
      await window.goto(links.get(person) as string);
      windows.set(person, window);
      return window;
    };
    const take = async (step: WalkStep): Promise<void> => {
      switch (step.does) {
        case 'open':
          page = await signedIn(step.what);
          break;
        case 'return':
          page = windows.get(step.what) as Page;
          break;
        case 'run':
          printed = await terminal.run(here(step.command));
          break;
        case 'print':
          expect(printed).toMatch(new RegExp(step.texts.map(escaped).join('[^]*')));
          break;
        case 'picture':
          await picture(page, step.name, seen);
          break;
        case 'unzip': {
          const files = unzipSync(readFileSync(await fileOf('zip')));
          writeFileSync(join(tour.folder, step.what), files[step.what] as Uint8Array);
          page = await openOffline(join(tour.folder, step.what));
          break;
        }
        case 'give':
          await page.getByLabel('Choose a proof bundle').setInputFiles(await fileOf('jsonl'));
          break;
        default:
          await follow(page, step);
          if (step.does === 'see') seen = step.what;
          // The page believes no fact any more that rests on a withdrawn statement.
          if (seen === 'done:')
            await page.getByText('Believed because of it.').waitFor({ state: 'detached' });
      }
    };
    const steps = walkOf(guide);
    expect(steps.length).toBeGreaterThan(60);
    expect(steps.filter(({ does }) => does === 'run')).toHaveLength(5);
    for (const step of steps)
      await take(step).catch((error: unknown) => {
        throw new Error(`The guide says: ${JSON.stringify(step)}`, { cause: error });
      });

    const { state } = (await tour.ask('GET', '/v1/trajectories/expenses/state')) as {
      state: { paid: object };
    };
    expect(state.paid).toMatchObject({ r3: 124_000 });
    const { facts } = (await tour.ask('POST', '/v1/trajectories/expenses/memory/payees/recall', {
      body: { valid: 'any' },
    })) as any;
    const trips = facts.filter(({ subject }: { subject: string }) => subject === 'carla');
    expect(trips.map(({ object }: { object: string }) => object)).toEqual([
      'conference, four nights',
    ]);
    const { incidents } = (await tour.ask('GET', '/v1/incidents')) as { incidents: object[] };
    expect(incidents).toMatchObject([{ approved_by: 'manager:grace', opened_by: 'auditor:iris' }]);
    const { standing } = (await tour.ask('GET', '/v1/trajectories/bills/standing')) as {
      standing: object[];
    };
    expect(standing).toMatchObject([{ used: 1, spent: { cents: 12_000 }, status: 'ended' }]);
  });
});
