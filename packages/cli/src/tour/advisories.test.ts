import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dataPath, hasData } from '../../../../tests/data.ts';
import { ADVISORIES } from './advisories.ts';

test('each of the 20 advisories is named once', () => {
  expect(new Set(ADVISORIES.map(({ id }) => id)).size).toBe(20);
});

describe.skipIf(!hasData('go-vulndb'))('the Go vulnerability database (absent without ASSIZE_DATA)', () => {
  test('has the same facts', () => {
    const records = new Map(
      readFileSync(dataPath('go-vulndb/advisories.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map((record) => [record.id, record]),
    );
    for (const { id, module, cves, fix, fixed, credits } of ADVISORIES) {
      const { affected, aliases, references, credits: named } = records.get(id);
      expect({ id, module, fixed, credits }).toEqual({
        ...{ id, module: affected[0].module, fixed: affected[0].fixed[0], credits: named },
      });
      expect(cves).toEqual([...new Set(aliases.filter((alias: string) => alias.startsWith('CVE-')))].sort());
      expect(fix).toBe(references.find(({ type }: { type: string }) => type === 'FIX')?.url);
    }
  });
});
