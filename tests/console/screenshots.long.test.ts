/**
 * Each page of the console on the tour, in both schemes and at three widths. With
 * `ASSIZE_SCREENSHOTS` the test writes its pictures into that folder.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { errorsIn, expectFitting } from '../support/console/page-checks.ts';
import { startTour, type Tour } from '../support/console/tour.ts';

const WIDTHS = [1280, 820, 360] as const;
/** Low enough that a picture has few bytes. */
const HEIGHT = 720;
const folder = process.env['ASSIZE_SCREENSHOTS'];

/** A page in one of its states. */
interface Shot {
  readonly name: string;
  readonly path: (tour: Tour) => string | Promise<string>;
  /** Resolves when the page shows all of it. */
  readonly shown: (page: Page) => Promise<unknown>;
}

/** The manager sees the inbox first, and the auditor the rest. */
const SHOTS: Readonly<Record<keyof Tour['links'], readonly Shot[]>> = {
  manager: [
    {
      name: 'inbox-list',
      path: () => '/inbox',
      shown: (page) => page.getByRole('button', { name: /pay/i }).waitFor(),
    },
    {
      name: 'inbox',
      path: async (tour) => `/inbox/${await waitingOf(tour)}`,
      shown: (page) => page.getByRole('button', { name: /^Approve/ }).waitFor(),
    },
  ],
  auditor: [
    {
      name: 'timeline',
      path: (tour) => `/timeline/expenses/${tour.seqOf('rejected')}`,
      shown: (page) => page.getByText('Why it was rejected').waitFor(),
    },
    {
      name: 'what-if',
      path: () => '/what-if/expenses',
      shown: async (page) => {
        await page.getByRole('button', { name: 'Run the backtest' }).click();
        await page
          .getByText(/first ruling that differs/i)
          .first()
          .waitFor();
      },
    },
    {
      name: 'simulation',
      path: () => '/what-if/expenses?try=simulation&at=4',
      shown: async (page) => {
        await page.getByRole('button', { name: 'Run the simulation' }).click();
        await page.getByRole('heading', { name: '4 variants from entry 4' }).waitFor();
      },
    },
    {
      name: 'effects',
      path: async (tour) => `/effects/${await firstEpochOf(tour)}`,
      shown: (page) =>
        page
          .getByRole('heading', { name: /bank\.transfer/ })
          .first()
          .waitFor(),
    },
    {
      name: 'memory',
      path: () => '/memory/expenses/payees?subject=ada&predicate=account',
      shown: (page) => page.getByRole('table').getByText('believed now').first().waitFor(),
    },
    {
      name: 'agents',
      path: () => '/agents/expenses',
      shown: (page) => page.getByText('role:Clerk:**', { exact: false }).first().waitFor(),
    },
    {
      name: 'audit',
      path: () => '/audit',
      shown: async (page) => {
        await page.getByRole('button', { name: 'Verify now' }).click();
        await page.getByText(/all valid/).waitFor();
      },
    },
  ],
};

async function waitingOf(tour: Tour): Promise<string> {
  const { approvals } = (await tour.ask('GET', '/v1/approvals')) as { approvals: { id: string }[] };
  return approvals[0]!.id;
}

async function firstEpochOf(tour: Tour): Promise<number> {
  const { transactions } = (await tour.ask('GET', '/v1/effects?all=true')) as {
    transactions: { epoch: number }[];
  };
  return transactions.at(-1)!.epoch;
}

withConsole(({ blank }) => {
  let tour: Tour;
  const cookies = {} as Record<
    keyof Tour['links'],
    Awaited<ReturnType<ReturnType<Page['context']>['cookies']>>
  >;
  beforeAll(async () => {
    tour = await startTour();
    await tour.ask('POST', '/v1/checkpoints');
  });
  afterAll(() => tour?.end());

  test.each(['light', 'dark'] as const)(
    'each page fits, and breaks no rule of accessibility: %s',
    async (scheme) => {
      if (folder !== undefined) mkdirSync(folder, { recursive: true });
      const page = await blank({ scheme });
      const errors = errorsIn(page);
      for (const [person, shots] of Object.entries(SHOTS) as [
        keyof Tour['links'],
        readonly Shot[],
      ][]) {
        await page.context().clearCookies();
        if (cookies[person] === undefined) {
          await page.goto(tour.links[person]);
          await page.getByText('Live').waitFor();
          cookies[person] = await page.context().cookies();
        } else await page.context().addCookies(cookies[person]);
        for (const { name, path, shown } of shots) {
          await page.setViewportSize({ width: WIDTHS[0], height: HEIGHT });
          await page.goto(tour.url + (await path(tour)));
          await shown(page);
          await page.getByText('Live').waitFor();
          for (const width of WIDTHS) {
            await page.setViewportSize({ width, height: HEIGHT });
            await expectFitting(page);
            await expectAccessible(page);
            if (folder !== undefined)
              await page.screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`) });
          }
        }
      }
      expect(errors).toEqual([]);
    },
  );
});
