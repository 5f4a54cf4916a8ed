/** Proof bundles: made in the console, and verified by their page without a network. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync, zipSync } from 'fflate';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { approvalCases } from '../support/ledger/approval-cases.ts';
import { bundleOf } from '../support/ledger/bundle-ledgers.ts';
import { exportOf } from '../support/ledger/exports.ts';
import { importedStore } from '../support/ledger/inherited-cases.ts';
import { everyKind, keysOf } from '../support/ledger/rows.ts';
import { hasPython, PythonVerifier } from '../support/process/python-verifier.ts';
import { pay, succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

const python = new PythonVerifier();
afterAll(() => python.end());

/** A proposal that a boss approved with a reason; the ids of both entries. */
async function approved(
  server: TestServer,
  desk = 'a',
): Promise<{ readonly pending: string; readonly commit: string }> {
  await succeed(server, 'proposals.create', pay(desk, 1, 'before'));
  const { approval_id: pending } = await succeed(server, 'proposals.create', pay(desk, 200, 'k'));
  const path = { approval: pending };
  const { approval } = await succeed(server, 'approvals.get', { path });
  const body = { digest: approval.digest, reason: 'the invoice is right' };
  const { entry_id: commit } = await succeed(server, 'approvals.approve', {
    as: 'boss:ada',
    path,
    body,
  });
  return { pending, commit };
}

/** Clicks, and saves the file that the page then downloads. */
async function downloaded(page: Page, button: string): Promise<Buffer> {
  const waiting = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  return readFileSync(await (await waiting).path());
}

/** The path of a new file with this content. */
function fileWith(content: string | Uint8Array, name: string): string {
  const path = join(mkdtempSync(join(process.env['TMPDIR'] ?? '/tmp', 'assize-bundle-')), name);
  writeFileSync(path, content);
  return path;
}

function pageIn(zip: Uint8Array): string {
  return Buffer.from(unzipSync(zip)['verify.html'] as Uint8Array).toString();
}

withConsole(({ serve, open, openOffline }) => {
  test('an auditor bundles an approval, and it verifies without a network', async () => {
    const server = await serve();
    const { pending, commit } = await approved(server);
    const console = await open(server, 'auditor:eve', '/audit?bundle=approval&approval=main%402');
    await console.getByRole('button', { name: 'Download the proof bundle' }).click();
    await console.getByText('No signed checkpoint covers this yet.').waitFor();
    const zip = await downloaded(console, 'Sign a checkpoint and download');
    await console.getByText('verify.html').waitFor();
    const { key } = await succeed(server, 'checkpoints.latest');

    const page = await openOffline(fileWith(pageIn(zip), 'verify.html'));
    await page
      .getByText('Valid Everything holds, if the key of the log is the right one.')
      .waitFor();
    const said =
      /^boss:ada approved pay: amount 200 for agent:scout: “the invoice is right” .* UTC, entry main@3$/;
    const first = page.locator('.top > :first-child').filter({ hasText: said });
    await first.waitFor();
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.locator('button:visible, input:visible').count()).toBe(0);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
      'rgb(255, 255, 255)',
    );
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    await page.evaluate('window.print = () => { document.title = "printed" }');
    await page.getByRole('button', { name: 'Print / save as PDF' }).click();
    expect(await page.title()).toBe('printed');
    const card = page.getByRole('article', { name: 'Entry 2 of main' });
    expect(await card.getAttribute('id')).toBe(`entry-${pending.slice(0, 16)}`);
    await card.getByText('Asks for').waitFor();
    await card.getByRole('link', { name: 'entry main@3' }).waitFor();
    await page.getByText('? not compared with a key of yours').waitFor();
    const field = page.getByLabel('Key that you have from the operator');
    await field.fill(key);
    await page.getByText('Valid Everything holds, under the key that you have.').waitFor();
    await page.getByText('✓ equal to the key that you have').waitFor();
    await field.fill('witness.example/w+47d34ce4+BMqTrBcFGHBx1nuDx/8O/oEI6OxFMFdddyaHkzPb2r58');
    await page.getByText('! this is not a key of a log').waitFor();
    await field.fill('log.example/ledger+bd5618f0+Ae1JKMYo0cLG6ukDOJBZlWEpWSc6XGP5NjbBRhSshzfR');
    await page.getByText('✕ another key than the one that you have').waitFor();
    await page.getByText('The bundle is of another log than the key that you gave.').waitFor();
    expect(await page.getByText('approved pay').count()).toBe(0);
    await page.locator(`#entry-${commit.slice(0, 16)} summary`).click();
    await page.getByText('boss:ada as boss, by').waitFor();
    await page.getByText('the invoice is right').waitFor();

    if (!hasPython) return;
    const { code, out } = await python.verify(fileWith(zip, 'bundle.zip'), '--log-key', key);
    expect([code, out]).toEqual([0, expect.stringMatching(/^valid: 1 entry in scope/)]);
  });

  test('the proof of an open entry appears when a checkpoint is signed', async () => {
    const server = await serve();
    await approved(server);
    const console = await open(server, 'auditor:eve', '/timeline/main/2?view=record');
    await console.getByText('No signed checkpoint covers this entry yet.').waitFor();
    await console.getByRole('button', { name: 'Download the proof bundle' }).click();
    await downloaded(console, 'Sign a checkpoint and download');
    await console.getByText(/^✓ Entry \d+ of the/).waitFor();
  });

  test('the page names the entry in which a byte was changed', async () => {
    const server = await serve();
    const { pending } = await approved(server);
    await succeed(server, 'checkpoints.create');
    const console = await open(server, 'boss:ada', `/audit?approval=${pending}`);
    const zip = await downloaded(console, 'Download the proof bundle');
    const files = unzipSync(zip);
    const entries = Buffer.from(files['entries.jsonl'] as Uint8Array).toString();
    expect(entries).toContain('"amount":200');
    files['entries.jsonl'] = Buffer.from(entries.replaceAll('"amount":200', '"amount":201'));
    const changed = zipSync(files);
    // A page without a bundle, that a reader has from elsewhere, reads the zip.
    const empty = pageIn(zip).replace(/(id="bundle">).*?(<\/script>)/s, '$1$2');
    const page = await openOffline(fileWith(empty, 'verify.html'));
    await page.getByLabel('Choose a proof bundle').setInputFiles(fileWith(zip, 'bundle.zip'));
    await page.getByText('Valid Everything holds').waitFor();
    await page.getByLabel('Choose a proof bundle').setInputFiles(fileWith(changed, 'bundle.zip'));
    await page.getByText(/^Not valid/).waitFor();
    const faults = page.getByRole('region', { name: 'Faults' }).getByRole('listitem');
    await faults.getByText('The file entries.jsonl is not the one of the manifest.').waitFor();
    await faults
      .filter({ hasText: 'bad_entry entry main@2: Its text does not hash to its id.' })
      .waitFor();
    await page.getByRole('article', { name: 'Entry 2 of main' }).getByText('✕ at fault').waitFor();
    await expectAccessible(page);

    // The same in the page of the bundle: its own copy of the entry is changed.
    const edited = pageIn(zip).replaceAll('\\"amount\\":200', '\\"amount\\":201');
    const other = await openOffline(fileWith(edited, 'verify.html'));
    await other.getByText(/^Not valid/).waitFor();
    if (!hasPython) return;
    expect((await python.verify(fileWith(changed, 'bundle.zip'))).code).toBe(1);
  });

  test('the page verifies an export, with a checkpoint and the key of the log', async () => {
    const server = await serve();
    await approved(server);
    const { checkpoint: signed, key, size } = await succeed(server, 'checkpoints.create');
    const text = await exportOf(server.store);
    const console = await open(server, 'auditor:eve', '/audit?bundle=entry&entry=main%401');
    const zip = await downloaded(console, 'Download the proof bundle');
    // The page of a bundle verifies other files too, below the bundle.
    const page = await openOffline(fileWith(pageIn(zip), 'verify.html'));
    await page.getByText('Valid Everything holds').waitFor();
    await page.getByText('Verify another file').click();
    const choose = (...files: readonly string[]) =>
      page.getByLabel('Choose a proof bundle').setInputFiles([...files]);
    const file = fileWith(text, 'ledger.jsonl');

    await choose(file);
    await page.getByText('Valid Every line holds. Nothing here shows').waitFor();
    await page.getByText('ledger.jsonl').waitFor();
    await choose(fileWith(signed, 'log.checkpoint'));
    await page
      .getByText('Valid Everything holds, if the key of the log signed the checkpoint')
      .waitFor();
    await page.getByLabel('Key of the log').fill(key);
    await page.getByText('Valid Everything holds, under the key that you have.').waitFor();
    await page.getByRole('definition').getByText(`${size} entries`).waitFor();
    await expectAccessible(page);

    // The checkpoint and the key stay, and the changed export is compared with them.
    await choose(fileWith(text.replaceAll('"amount":200', '"amount":201'), 'changed.jsonl'));
    await page.getByText(/^Not valid/).waitFor();
    const faults = page.getByRole('region', { name: 'Faults' }).getByRole('listitem');
    await faults
      .filter({ hasText: 'bad_entry entry main@2: Its text does not hash to its id.' })
      .waitFor();
    await faults
      .getByText(/entries of the export do not have the root .* of the checkpoint/)
      .waitFor();

    // A checkpoint alone, in a page that shows nothing else.
    const empty = pageIn(zip).replace(/(id="bundle">).*?(<\/script>)/s, '$1$2');
    const alone = await openOffline(fileWith(empty, 'verify.html'));
    await alone
      .getByLabel('Choose a proof bundle')
      .setInputFiles(fileWith(signed, 'log.checkpoint'));
    await alone.getByText('Not checked Give the key of the log below.').waitFor();
    await alone.getByLabel('Key of the log').fill(key);
    await alone.getByText('Valid The key that you have signed this checkpoint.').waitFor();
    await alone
      .getByLabel('Signed checkpoint')
      .fill(signed.replace(`\n${size}\n`, `\n${size + 1}\n`));
    await alone.getByText('The key that you gave did not sign the checkpoint.').waitFor();
    await alone.getByLabel('Choose a proof bundle').setInputFiles(fileWith('hello', 'note.txt'));
    await alone.getByText('The file is not a proof bundle').waitFor();
  });

  test('the first line quotes why a proposal was refused, rejected or closed', async () => {
    const server = await serve();
    const { approval_id: pending } = await succeed(server, 'proposals.create', pay('a', 200, 'k'));
    const path = { approval: pending };
    const { approval } = await succeed(server, 'approvals.get', { path });
    const body = { digest: approval.digest, reason: `no invoice${'.'.repeat(400)}` };
    await succeed(server, 'approvals.reject', { as: 'boss:ada', path, body });
    await succeed(server, 'checkpoints.create');
    const console = await open(server, 'auditor:eve', `/audit?approval=${pending}`);
    const zip = await downloaded(console, 'Download the proof bundle');
    const page = await openOffline(fileWith(pageIn(zip), 'verify.html'));
    const first = page.locator('.headline');
    await first
      .filter({ hasText: /^boss:ada rejected pay: .* for agent:scout: “no invoice\.{289}…” / })
      .waitFor();

    const { ledger } = approvalCases().find(({ name }) => name === 'an approval finds a conflict')!;
    const kinds = { ...everyKind(keysOf(5)), erased: [] };
    const [refused, expired] = kinds.rows.filter(({ kind }) => kind === 'rejection');
    const lines = [
      [ledger, ledger.rows.at(-1), /^A conflict ended the approval by dr-a of act .*: “it may/],
      [kinds, refused, /^The rules refused act.*: “it may not be” /],
      [kinds, expired, /^Closed undecided: act .*: “it may not be” /],
    ] as const;
    await page.getByText('Verify another file').click();
    for (const [rows, row, hasText] of lines) {
      const { zip } = await bundleOf(await importedStore(rows), { kind: 'entry', entry: row!.id });
      await page.getByLabel('Choose a proof bundle').setInputFiles(fileWith(zip, 'bundle.zip'));
      await first.filter({ hasText }).waitFor();
    }
  });

  test('text of agents is inert in the page', async () => {
    const server = await serve();
    const hostile = '</script><img src=x onerror="document.title=1"><b>\u202e\u200b';
    await approved(server, hostile);
    await succeed(server, 'checkpoints.create');
    const console = await open(server, 'auditor:eve', '/audit?bundle=entry&entry=main%401');
    const zip = await downloaded(console, 'Download the proof bundle');
    const page = await openOffline(fileWith(pageIn(zip), 'verify.html'));
    await page.getByText('Valid Everything holds').waitFor();
    expect(await page.title()).toBe('Proof bundle');
    expect(await page.locator('main img, main b').count()).toBe(0);
    await page
      .getByText('</script><img src=x onerror="document.title=1"><b>\\u202e\\u200b')
      .first()
      .waitFor();
    expect(await page.locator('main').innerText()).not.toMatch(/[\u202e\u200b]/);
  });

  test('each scope of an auditor makes a bundle that is valid', async () => {
    const server = await serve();
    const { pending } = await approved(server);
    await succeed(server, 'checkpoints.create');
    const period = 'from=2020-01-01T00%3A00%3A00.000000Z&to=2100-01-01T00%3A00%3A00.000000Z';
    const scopes = [
      ['/audit?bundle=person&person=boss%3Aada', 'a person: boss:ada'],
      [`/audit?bundle=period&trajectory=main&${period}`, 'a period of one trajectory'],
      ['/timeline/main/1?view=record', 'one entry: entry main@1'],
      ['/timeline/main/2?view=record', 'one approval: entry main@2'],
      [`/inbox/${pending}`, 'one approval: entry main@2'],
    ] as const;
    for (const [path, about] of scopes) {
      const isDecision = /^(?:one approval|a person)/.test(about);
      const console = await open(server, 'auditor:eve', path);
      const zip = await downloaded(console, 'Download the proof bundle');
      const page = await openOffline(fileWith(pageIn(zip), 'verify.html'));
      await page.getByText('Valid Everything holds').waitFor();
      await page.getByText(about, { exact: true }).waitFor();
      const [approved, allowed] = ['boss:ada approved pay', 'The rules allowed pay'].map((words) =>
        page.locator('.headline').filter({ hasText: words }).count(),
      );
      expect([await approved, await allowed]).toEqual([
        isDecision ? 1 : 0,
        about.startsWith('one entry') ? 1 : 0,
      ]);
    }
  });

  test('a counselor bundles no person, and sees which remedy needs whom', async () => {
    const server = await serve();
    const { pending } = await approved(server);
    const page = await open(server, 'boss:ada', `/audit?approval=${pending}`);
    await page.getByRole('button', { name: 'Download the proof bundle' }).click();
    await page.getByText('An auditor or an administrator signs one.').nth(1).waitFor();
    expect(await page.getByRole('button', { name: 'Sign a checkpoint and download' }).count()).toBe(
      0,
    );
    await page.getByText('Person', { exact: true }).click();
    await page.getByText('Auditors and administrators bundle a person or a period.').waitFor();
    expect(new URL(page.url()).searchParams.get('bundle')).toBe('person');
  });

  test('a person without an entry, and no entry at all, say what to do', async () => {
    const server = await serve();
    await succeed(server, 'checkpoints.create');
    const page = await open(server, 'auditor:eve', '/audit?bundle=person');
    expect(await page.getByRole('button', { name: 'Download the proof bundle' }).isDisabled()).toBe(
      true,
    );
    await page.getByRole('combobox', { name: 'Person' }).fill('ghost');
    await page.getByRole('button', { name: 'Download the proof bundle' }).click();
    await page.getByText('No entry is in scope.').waitFor();
    expect(new URL(page.url()).searchParams.get('person')).toBe('ghost');
  });

  test.each(['light', 'dark'] as const)(
    'no rule of accessibility is broken: %s',
    async (scheme) => {
      const server = await serve();
      const { pending } = await approved(server);
      await succeed(server, 'checkpoints.create');
      const console = await open(server, 'auditor:eve', `/audit?approval=${pending}`, { scheme });
      const zip = await downloaded(console, 'Download the proof bundle');
      await console.getByText('verify.html').waitFor();
      await expectAccessible(console);
      const path = fileWith(pageIn(zip), 'verify.html');
      for (const width of [1280, 360]) {
        const page = await openOffline(path, { scheme, width });
        await page.getByText('Valid Everything holds').waitFor();
        for (const summary of await page.locator('summary').all()) await summary.click();
        await expectAccessible(page);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          width,
        );
      }
    },
  );

  test('the keyboard reaches every part of the page', async () => {
    const server = await serve();
    const { pending } = await approved(server);
    await succeed(server, 'checkpoints.create');
    const console = await open(server, 'auditor:eve', `/audit?approval=${pending}`);
    const zip = await downloaded(console, 'Download the proof bundle');
    const page = await openOffline(fileWith(pageIn(zip), 'verify.html'));
    await page.getByText('Valid Everything holds').waitFor();
    for (const reached of ['Print / save as PDF', 'entry main@3', 'log-key']) {
      await page.keyboard.press('Tab');
      const { id, text } = await page.evaluate<{ id: string; text: string }>(
        '({ id: document.activeElement.id, text: document.activeElement.textContent })',
      );
      expect(id || text).toBe(reached);
    }
    const context = page.locator('details.card').first();
    await context.locator('summary').focus();
    await page.keyboard.press('Enter');
    await context.locator('dl').waitFor();
  });
});
