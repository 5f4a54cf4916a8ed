import { readFileSync } from 'node:fs';
import { generateKeys, openStore, verifyStore } from 'assize';
import { describe, expect, test } from 'vitest';
import { dataPath, hasData } from '../../../tests/data.ts';
import {
  type Advisory,
  adjudicateDisclosure,
  advisory,
  type DisclosureReport,
} from './adjudicate.ts';
import { cvesOf, receiverOf, releasedAs } from './adjudicate-advisory.ts';
import { Pace } from './adjudicate-plan.ts';
import { DISCLOSURE_SETTINGS } from './index.ts';

const sound: Advisory = {
  id: 'GO-1',
  aliases: ['CVE-2026-1000', 'GHSA-aaaa-bbbb-cccc'],
  affected: [{ module: 'github.com/acme/parser', fixed: ['1.2.0'] }],
  credits: ['Ann'],
  references: [{ type: 'FIX', url: 'https://github.com/acme/parser/commit/1' }],
  review_status: 'REVIEWED',
};

async function adjudicated(...advisories: Advisory[]): Promise<DisclosureReport> {
  return adjudicateDisclosure({
    store: await openStore('memory:'),
    advisories,
    keys: generateKeys(),
  });
}

describe('an advisory', () => {
  test('with a complete record is disclosed', async () => {
    expect(await adjudicated(sound)).toMatchObject({
      advisories: 1,
      disclosed: 1,
      refused: {},
      proposals: 15,
      committed: 15,
      days: 91,
      entries: 16,
      verified: true,
      results: [{ id: 'GO-1', phase: 'DISCLOSED', outcome: 'disclosed' }],
    });
  });

  test.each([
    [
      'without a fix',
      { affected: [{ module: 'a.b/c', fixed: [] }] },
      'PATCH_BEFORE_DISCLOSURE',
      'execute_disclosure',
    ],
    [
      'without a review',
      { review_status: 'UNREVIEWED' },
      'PATCH_BEFORE_DISCLOSURE',
      'execute_disclosure',
    ],
    ['without a credit', { credits: [] }, 'DISCLOSURE_COMPLETENESS', 'execute_disclosure'],
    [
      'with a credit to nobody',
      { credits: [' '] },
      'DISCLOSURE_COMPLETENESS',
      'execute_disclosure',
    ],
    [
      'with another’s CVE',
      { aliases: ['CVE-2026-1000'] },
      'CVE_ATTRIBUTION_UNIQUENESS',
      'observe_cve',
    ],
  ])('%s is refused, and stays where it is', async (_, lacks, invariant_id, action) => {
    const report = await adjudicated(sound, { ...sound, aliases: [], id: 'GO-2', ...lacks });
    expect(report).toMatchObject({ disclosed: 1, refused: { [invariant_id]: 1 }, verified: true });
    expect(report.results[1]).toMatchObject({
      id: 'GO-2',
      phase: 'EMBARGOED',
      outcome: 'refused',
      invariant_id,
      action,
    });
  });

  test('that lists an identifier twice has it once', async () => {
    const twice = { ...sound, aliases: ['CVE-2026-1001', 'CVE-2026-1000', 'CVE-2026-1001'] };
    expect(cvesOf(twice)).toEqual(['CVE-2026-1000', 'CVE-2026-1001']);
    expect(await adjudicated(twice)).toMatchObject({ disclosed: 1 });
  });

  test('goes to its first module’s owner and is fixed in the first with a fix', () => {
    const of = (...modules: string[]) => ({
      ...sound,
      affected: modules.map((module) => ({ module, fixed: [] })),
    });
    expect(receiverOf(of('github.com/acme/parser/v2', 'other.org/x'))).toEqual({
      organisation: 'github.com:acme',
      maintainer: 'github.com:acme:parser:v2',
    });
    expect(receiverOf(of('stdlib'))).toEqual({ organisation: 'stdlib', maintainer: 'stdlib' });
    expect(receiverOf(of('k8s.io/kubernetes'))).toMatchObject({ organisation: 'k8s.io' });
    const [first, second] = [
      { module: 'm/a', fixed: [] },
      { module: 'm/b', fixed: ['2.0', '3.0'] },
    ];
    expect(releasedAs({ ...sound, affected: [first, second] })).toBe('m/b@2.0');
  });

  test('of an invalid form is refused by its schema', () => {
    for (const wrong of [
      {},
      { ...sound, id: 'a/b' },
      { ...sound, affected: [] },
      { ...sound, credits: 'Ann' },
    ]) {
      expect(advisory.safeParse(wrong).success).toBe(false);
    }
    expect(advisory.parse({ ...sound, summary: 'kept' })).toMatchObject({ summary: 'kept' });
  });
});

test('reports to one maintainer wait until the limit allows them', () => {
  const pace = new Pace(DISCLOSURE_SETTINGS);
  const days = Array.from({ length: 12 }, () => pace.next('kernel', 0));
  expect(days).toEqual([0, 0, 0, 0, 0, 7, 7, 7, 7, 7, 14, 14]);
  expect(pace.next('kernel', 30)).toBe(30);
  expect(pace.next('net', 0)).toBe(0);
});

test('a signal stops the job between two days, and the ledger so far verifies', async () => {
  const store = await openStore('memory:');
  const stopping = new AbortController();
  const job = adjudicateDisclosure({
    store,
    advisories: [sound],
    keys: generateKeys(),
    signal: stopping.signal,
    onProgress: () => stopping.abort(new Error('enough')),
  });
  await expect(job).rejects.toThrow('enough');
  expect(await verifyStore(store)).toMatchObject([{ entries: 6 }]);
  expect((await verifyStore(store)).flatMap(({ fault }) => fault ?? [])).toEqual([]);
});

describe.skipIf(!hasData('go-vulndb'))(
  'the Go vulnerability database (go-vulndb, absent without ASSIZE_DATA)',
  () => {
    const read = (): Advisory[] => {
      const lines = readFileSync(dataPath('go-vulndb', 'advisories.jsonl'), 'utf8')
        .trim()
        .split('\n');
      return lines.map((line) => advisory.parse(JSON.parse(line)));
    };

    test('is disclosed except advisories without a fix or without credits', async () => {
      const advisories = read();
      const report = await adjudicated(...advisories);
      const lacksFix = (it: Advisory) => it.affected.every(({ fixed }) => fixed.length === 0);
      // The oracle: the records alone, counted by hand.
      const due = advisories.map((it) =>
        lacksFix(it)
          ? 'PATCH_BEFORE_DISCLOSURE'
          : it.credits.length === 0
            ? 'DISCLOSURE_COMPLETENESS'
            : undefined,
      );
      expect(report.results.map(({ invariant_id }) => invariant_id)).toEqual(due);
      expect(report).toMatchObject({
        advisories: 781,
        disclosed: 307,
        refused: { DISCLOSURE_COMPLETENESS: 424, PATCH_BEFORE_DISCLOSURE: 50 },
        verified: true,
      });
    });

    test('has no identifier on two advisories, and 16 that list one twice', () => {
      const advisories = read();
      const all = advisories.flatMap(cvesOf);
      expect(new Set(all).size).toBe(all.length);
      const isTwice = ({ aliases }: Advisory) => new Set(aliases).size < aliases.length;
      expect(advisories.filter(isTwice)).toHaveLength(16);
    });
  },
);
