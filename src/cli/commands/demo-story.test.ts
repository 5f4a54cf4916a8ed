import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { generateKeys } from '#canon';
import { budget } from '#domains/budget';
import { Assize, verifyStore } from '#runtime';
import { openStore } from '#stores';
import { type DemoReport, runDemo } from './demo-story.ts';

let folder: string;
let url: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-demo-'));
  url = `sqlite:${join(folder, 'demo.db')}`;
});
afterEach(() => rmSync(folder, { recursive: true }));

async function told(store: string, json = false): Promise<{ report: DemoReport; lines: string[] }> {
  const lines: string[] = [];
  const report = await runDemo({ store, json, out: (line) => lines.push(line) });
  return { report, lines };
}

describe('the story', () => {
  test('follows the example of the paper, including the doctor', async () => {
    const { report } = await told('memory:');
    expect(report.ok).toBe(true);
    expect(report.steps.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    const decided = report.steps.filter(({ ruling }) => ruling !== 'committed');
    expect(
      decided.map(({ at, role, args, invariant_id }) => [at.slice(0, 10), role, args['tier'], invariant_id]),
    ).toEqual([
      ['2026-03-26', 'Clinical', undefined, 'RELAPSE_RESPONSE_IS_HUMAN'],
      ['2026-03-26', 'Billing', '90+', 'CLAIM_TIER_CURRENT'],
      ['2026-03-26', 'Billing', '0-30', 'DEFINITIVE_WINDOW'],
      ['2026-03-29', 'Billing', '0-30', 'DEFINITIVE_WINDOW'],
    ]);
    expect(report.steps.find(({ resolves }) => resolves !== undefined)).toMatchObject({
      principal: 'md:okafor',
      role: 'md',
      ruling: 'committed',
      resolves: 9,
    });
    expect(report.steps.at(-1)).toMatchObject({ action: 'submit_claim', ruling: 'committed' });
  });

  test('is printed for humans, each ruling with its number and its reason', async () => {
    const { report, lines } = await told('memory:');
    for (const { seq, ruling, principal, detail } of report.steps) {
      const at = lines.findIndex((line) => line.includes(`#${seq} ${ruling}`) && line.includes(principal));
      expect(at, `#${seq}`).toBeGreaterThan(0);
      if (detail !== undefined) expect(lines[at + 1]).toContain(detail);
    }
    expect(lines.join('\n')).toContain(`verified: ${report.verification.entries} entries`);
    expect(lines.join('\n')).not.toContain('\u001b');
  });

  test('is one JSON document when asked for', async () => {
    const { report, lines } = await told('memory:', true);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] as string)).toEqual(JSON.parse(JSON.stringify(report)));
  });

  test('runs by its own clock', async () => {
    const { report } = await told(url);
    const store = await openStore(url);
    const rows = await store.entries(report.trajectory_id);
    await store.close();
    expect(rows.map(({ payload }) => JSON.parse(payload).at.slice(0, 10))).toEqual([
      '2025-12-01',
      ...report.steps.map(({ at }) => at.slice(0, 10)),
    ]);
  });

  test('ends with a copy that was changed, and does not verify', async () => {
    const { report } = await told('memory:');
    expect(report.verification).toMatchObject({ valid: true, entries: 21, open: 0 });
    expect(report.changed_copy).toMatchObject({ valid: false, fault: { seq: 13 } });
  });
});

describe('its store', () => {
  test('holds the trajectory and the entry that the commands name', async () => {
    const { report, lines } = await told(url);
    expect(lines).toEqual(expect.arrayContaining(report.commands.map((command) => `  ${command}`)));
    const store = await openStore(url);
    const [log, show] = report.commands.map((command) => command.split(' ')[3] as string);
    expect(await store.head(log as string)).toMatchObject({ id: report.verification.head });
    expect(await store.find(show as string)).toMatchObject([{ seq: 13, kind: 'rejection' }]);
    expect(await verifyStore(store)).toMatchObject([{ valid: true, entries: 21 }]);
    await store.close();
  });

  test('gets a further trajectory from a further run; the key of the first stays', async () => {
    const first = await told(url);
    const second = await told(url);
    expect([first, second].map(({ report }) => report.trajectory_id)).toEqual(['david-1', 'david-2']);
    const store = await openStore(url);
    expect(await verifyStore(store)).toMatchObject([{ valid: true }, { valid: true }]);
    await store.close();
    expect(JSON.parse(readFileSync(join(folder, 'demo.db.anchors.json'), 'utf8'))).toEqual([
      first.report.anchor,
      second.report.anchor,
    ]);
  });

  test('is quoted in the commands where a shell would split it', async () => {
    const { report } = await told(`sqlite:${join(folder, "david's demo.db")}`);
    expect(report.commands[0]).toContain(`--store 'sqlite:${folder}/david'\\''s demo.db'`);
  });

  test('is not named when it is gone', async () => {
    const { report, lines } = await told('memory:');
    expect(report.commands).toEqual([]);
    expect(lines.join('\n')).not.toContain('npx');
  });
});

describe('unusable input is refused before any output', () => {
  test('a file that is no store of ours', async () => {
    writeFileSync(join(folder, 'demo.db'), 'a letter to David');
    const lines: string[] = [];
    await expect(runDemo({ store: url, json: false, out: (line) => lines.push(line) })).rejects.toMatchObject({
      name: 'StoreError',
    });
    expect(lines).toEqual([]);
    expect(readdirSync(folder)).toEqual(['demo.db']);
  });

  test('anchors that are none', async () => {
    writeFileSync(join(folder, 'demo.db.anchors.json'), '{}');
    await expect(told(url)).rejects.toMatchObject({ code: 'bad_input' });
    expect(readdirSync(folder)).toEqual(['demo.db.anchors.json']);
  });

  test('a store with a trajectory that is not the demo’s', async () => {
    const store = await openStore(url);
    const { publicKey } = generateKeys();
    await new Assize({ store, domains: [budget], anchors: [publicKey] }).create(budget, {
      trajectoryId: 'earnest',
    });
    await store.close();
    const before = readFileSync(join(folder, 'demo.db'));
    await expect(told(url)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('earnest') });
    expect(readFileSync(join(folder, 'demo.db')).equals(before)).toBe(true);
    expect(readdirSync(folder).filter((name) => name.includes('anchors'))).toEqual([]);
  });

  test('a demo store that trusts another key, and anchors without a store', async () => {
    const anchors = join(folder, 'demo.db.anchors.json');
    const earnest = JSON.stringify([generateKeys().publicKey]);
    writeFileSync(anchors, earnest);
    await expect(told(url)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(anchors) });
    expect(readdirSync(folder)).toEqual(['demo.db.anchors.json']);
    rmSync(anchors);
    await told(url);
    const both = JSON.stringify([...JSON.parse(readFileSync(anchors, 'utf8')), ...JSON.parse(earnest)]);
    writeFileSync(anchors, both);
    await expect(told(url)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(anchors) });
    expect(readFileSync(anchors, 'utf8')).toBe(both);
  });

  test('a store of an unknown kind', async () => {
    await expect(told('mysql://root:secret@host/db')).rejects.toMatchObject({ code: 'store_unknown' });
  });
});
