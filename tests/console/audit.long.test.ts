/** The audit of the console, in a real Chromium. */
import { readFile } from 'node:fs/promises';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import {
  bodyOf,
  endedKey,
  FAILED_KIND,
} from '../../packages/server/src/notices/queue/delivery-rows.ts';
import { receiversOf } from '../../packages/server/src/notices/receivers.ts';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { pay, succeed } from '../support/server/calling.ts';
import { damaged } from '../support/server/damaged-store.ts';
import type { TestServer } from '../support/server/serving.ts';
import { startWitness } from '../support/server/witness.ts';
import { NoticeSink } from '../support/tools/notice-sink.ts';

async function paid(server: TestServer, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1)
    await succeed(server, 'proposals.create', pay('a', 1, `k${n}`));
}

/** A period whose end is before its start. */
const BACKWARDS = 'bundle=period&from=2026-03-02T00:00:00.000000Z&to=2026-03-01T00:00:00.000000Z';

withConsole(({ serve, open }) => {
  test('an auditor signs a checkpoint, and newer entries show immediately', async () => {
    const server = await serve();
    const page = await open(server, 'auditor:eve', '/audit');
    await page.getByText('No checkpoint is signed yet').waitFor();
    await page.getByRole('button', { name: 'Sign a new checkpoint' }).click();
    await page.getByText('4 entries (the whole log)').waitFor();
    const { root, origin, size } = await succeed(server, 'checkpoints.latest');
    expect(size).toBe(4);
    await page.getByText(root, { exact: true }).waitFor();
    await page.getByText(origin, { exact: true }).waitFor();
    await page.getByText('Live').waitFor();
    await paid(server, 2);
    await page.getByText('4 entries (2 newer entries are not covered)').waitFor();
  });

  test('a checkpoint names its witnesses, and the time of each', async () => {
    const witness = await startWitness();
    const server = await serve({ server: { witnesses: [witness] } });
    const page = await open(server, 'auditor:eve', '/audit');
    await page.getByRole('button', { name: 'Sign a new checkpoint' }).click();
    await page.getByText(/witness\.example cosigned/).waitFor();
    await witness.stop();
    await page.getByRole('button', { name: 'Sign a new checkpoint' }).click();
    await page
      .getByRole('alert')
      .getByText(/witness\.example/)
      .waitFor();
  });

  test('the trajectories are verified one after the other, and the list fills', async () => {
    const server = await serve();
    await paid(server, 1);
    const page = await open(server, 'boss:ada', '/audit');
    const asked: string[] = [];
    let answer = (): void => undefined;
    await page.route('**/v1/verify', async (route) => {
      const { trajectories } = route.request().postDataJSON();
      asked.push(...trajectories);
      if (asked.length === 2) await new Promise<void>((resolve) => (answer = resolve));
      await route.continue();
    });
    await page.getByRole('button', { name: 'Verify now' }).click();
    await page.getByText('1 of 4 worlds verified: valid so far').waitFor();
    await page.getByRole('progressbar', { name: 'Verified worlds' }).waitFor();
    expect(await page.getByText('Waits', { exact: true }).count()).toBe(2);
    answer();
    await page.getByText('4 of 4 worlds verified: all valid. 5 entries.').waitFor();
    expect(asked).toEqual(['cash', 'main', 'other', 'spare']);
    expect(await page.getByText('Valid', { exact: true }).count()).toBe(4);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page
      .locator('a:focus')
      .and(page.getByRole('link', { name: 'main' }))
      .waitFor();
  });

  test('a changed entry is a fault, with the entry and the reason', async () => {
    const memory = new MemoryStore();
    const first = await serve({ store: memory });
    await paid(first, 3);
    await first.stop();
    await memory.dropSnapshots?.();
    const server = await serve({ store: damaged(memory) });
    const page = await open(server, 'auditor:eve', '/audit');
    await page.getByRole('button', { name: 'Verify now' }).click();
    await page.getByText('4 of 4 worlds verified: 1 with a fault').waitFor();
    const entry = page.getByRole('link', { name: 'Entry 2' });
    expect(await entry.getAttribute('href')).toBe('/timeline/main/2');
    await page.getByText('(tampered)').waitFor();
    await expectAccessible(page);
  });

  test('a report lists clauses with their evidence, and is a download', async () => {
    const server = await serve();
    await paid(server, 2);
    await succeed(server, 'proposals.create', pay('b', 200, 'large'));
    const page = await open(server, 'auditor:eve', '/audit');
    await page.getByRole('button', { name: 'Make the report' }).click();
    await page.getByText(/^7 entries of the log: \d+ clauses with a gap$/).waitFor();
    const clause = page.getByRole('listitem').filter({ hasText: 'Art. 14(4)(a)' });
    await clause.getByText('Oversight: understand and monitor').click();
    await clause.getByText('1 proposal asked a counselor').waitFor();
    const entry = clause.getByRole('link', { name: 'entry main@3' });
    expect(await entry.getAttribute('href')).toBe('/timeline/main/3');
    await clause.getByText(/^To close the gap: /).waitFor();
    await expectAccessible(page);
    // The log grows, and the file is still of the report that is shown.
    await paid(server, 3);
    const waiting = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download as HTML' }).click();
    const file = await readFile(await (await waiting).path(), 'utf8');
    const asked = {
      path: { framework: 'eu-ai-act' },
      query: { size: '7' },
      as: 'auditor:eve',
    } as const;
    expect(file).toBe(await succeed(server, 'reports.page', asked));
    expect(file).toContain('Compliance report at 7 entries');
  });

  test('a counselor sees no report', async () => {
    const page = await open(await serve(), 'boss:ada', '/audit');
    await page.getByText('Auditors and administrators make reports.').waitFor();
    expect(await page.getByRole('button', { name: 'Make the report' }).count()).toBe(0);
  });

  test('the whole ledger is a download', async () => {
    const server = await serve();
    const page = await open(server, 'auditor:eve', '/audit');
    const waiting = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download the ledger' }).click();
    const lines = (await readFile(await (await waiting).path(), 'utf8')).trimEnd().split('\n');
    expect(JSON.parse(lines[0] as string).format).toBe('assize/export/v1');
    expect(lines.length).toBeGreaterThan(4);
  });

  test('an administrator retries failed notices', async () => {
    await using sink = await NoticeSink.open();
    const webhook = {
      url: sink.url,
      secret: 'a-secret-of-24-characters',
      allowPrivate: true,
      channels: ['nobody'],
    };
    const server = await serve({ config: { notices: { webhooks: [webhook] } } });
    const { approval_id: entry } = await succeed(server, 'proposals.create', pay('a', 200, 'k'));
    // A proposal has its place in the log after the log was read.
    await succeed(server, 'checkpoints.create');
    const at = '2026-11-01T00:00:00.000000Z';
    const receiver = receiversOf([webhook], new Map())[0]!.id;
    const key = endedKey(at, (await server.store.logIndex(entry)) as number, receiver);
    const error = { code: 'receiver_refused', detail: 'The webhook answered with the status 500.' };
    const notice = {
      entry,
      type: 'approval.requested',
      attempts: 20,
      at,
      receiver,
      shown: 'a',
      error,
    } as const;
    await server.store.sidePut([{ kind: FAILED_KIND, key, expected: null, body: bodyOf(notice) }]);
    const auditor = await open(server, 'auditor:eve', '/audit');
    await auditor.getByText(error.detail).waitFor();
    expect(await auditor.getByRole('button', { name: /again/ }).count()).toBe(0);
    const page = await open(server, 'admin:ann', '/audit');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('No notice has failed.').waitFor();
    await expect.poll(() => sink.received.length, { timeout: 10_000 }).toBe(1);
  });

  test('a counselor sees what others may do', async () => {
    const server = await serve();
    const page = await open(server, 'boss:ada', '/audit');
    await page.getByText('Auditors and administrators export the ledger.').waitFor();
    await page.getByText('An auditor or an administrator signs one.').waitFor();
    expect(await page.getByRole('button', { name: 'Sign a new checkpoint' }).count()).toBe(0);
  });

  test.each(['light', 'dark'] as const)(
    'no rule of accessibility is broken: %s',
    async (scheme) => {
      const server = await serve();
      await succeed(server, 'checkpoints.create');
      for (const width of [1280, 820, 360]) {
        const page = await open(server, 'admin:ann', `/audit?${BACKWARDS}`, { scheme, width });
        await page.getByText('Give a time after “From”.').waitFor();
        expect(
          await page.getByRole('button', { name: 'Download the proof bundle' }).isDisabled(),
        ).toBe(true);
        await page.getByRole('button', { name: 'Verify now' }).click();
        await page.getByText(/all valid/).waitFor();
        await expectAccessible(page);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          width,
        );
      }
    },
  );
});
