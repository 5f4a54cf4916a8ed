/** Bundles with one change each, and the page's verifier. */
import { beforeAll, describe, expect, test } from 'vitest';
import { formatVerifierKey } from '#merkle';
import { readZip } from '../../console/verify/bundle/read-zip.ts';
import { verify } from '../../console/verify/bundle/verify.ts';
import { readKey } from '../../console/verify/log/key.ts';
import {
  bundleLedgers,
  bundleOf,
  sorted,
  type Texts,
  textsOf,
  WITNESS,
  zipOf,
} from '../support/ledger/bundle-ledgers.ts';
import { LOG, STRANGER, signedNote, WITNESSES } from '../support/ledger/merkle-fixtures.ts';

/** A bundle of all entries of a ledger. */
async function textsFor(ledger: string): Promise<Texts> {
  const { make } = (await bundleLedgers()).find(({ name }) => name === ledger)!;
  const scope = {
    kind: 'period',
    from: '0001-01-01T00:00:00.000000Z',
    to: '9998-01-01T00:00:00.000000Z',
  } as const;
  return textsOf((await bundleOf(await make(), scope)).zip);
}

async function codesOf(texts: Texts, isListed = true): Promise<string[]> {
  return (await faultsOf(texts, isListed)).map(({ code }) => code);
}

async function faultsOf(texts: Texts, isListed = true) {
  return (await verify(readZip(zipOf(texts, isListed)))).findings.faults;
}

/** The bundle with another text of a file, or without the file. */
function withFile(texts: Texts, name: string, change: (text: string) => string | undefined): Texts {
  const { [name]: text = '', ...others } = texts;
  const changed = change(text);
  expect(changed).not.toBe(text);
  return changed === undefined ? others : { ...others, [name]: changed };
}

/** The same for the value of a JSON file. */
function withJson(texts: Texts, name: string, change: (value: any) => void): Texts {
  return withFile(texts, name, (text) => {
    const value = JSON.parse(text);
    change(value);
    return `${JSON.stringify(sorted(value))}\n`;
  });
}

/** The same for the lines of the entries. */
function withLines(texts: Texts, change: (lines: string[]) => string[]): Texts {
  return withFile(
    texts,
    'entries.jsonl',
    (text) => `${change(text.trimEnd().split('\n')).join('\n')}\n`,
  );
}

const isEntry = (line: string) => line.startsWith('{"id"');
const isBlob = (line: string) => line.startsWith('{"blob"');

let effects: Texts;
let every: Texts;
let erased: Texts;
beforeAll(async () => {
  [effects, every, erased] = await Promise.all([
    textsFor('effects'),
    textsFor('every kind'),
    textsFor('all erased'),
  ]);
});

test('the bundles are valid before a change', async () => {
  for (const texts of [effects, every, erased]) expect(await codesOf(texts)).toEqual([]);
});

test('a byte of any listed file is noticed', async () => {
  for (const name of Object.keys(effects).filter((one) => one !== 'manifest.json')) {
    const at = Math.floor((effects[name] as string).length / 2);
    const changed = withFile(
      effects,
      name,
      (text) => `${text.slice(0, at)}${text[at] === 'a' ? 'b' : 'a'}${text.slice(at + 1)}`,
    );
    expect([name, (await codesOf(changed, false))[0]]).toEqual([name, 'file_differs']);
  }
});

test('a file too much and a file too few are noticed', async () => {
  expect(await codesOf({ ...effects, 'more.txt': '' }, false)).toEqual(['bad_manifest']);
  for (const name of Object.keys(effects))
    expect([
      name,
      await codesOf(
        withFile(effects, name, () => undefined),
        false,
      ),
    ]).toEqual([name, expect.arrayContaining(['bad_manifest'])]);
});

describe('with a manifest that agrees', () => {
  const cases: Record<
    string,
    { readonly of: () => Texts; readonly change: (texts: Texts) => Texts; readonly code: string }
  > = {
    'an argument of an entry': {
      of: () => effects,
      change: (texts) =>
        withFile(texts, 'entries.jsonl', (text) => text.replace('"plain"', '"plaim"')),
      code: 'bad_entry',
    },
    'a value and its name': {
      of: () => every,
      change: (texts) =>
        withLines(texts, (lines) =>
          lines.map((line) =>
            isBlob(line)
              ? line.replace('{"blob":', '{"blob":[').replace(',"hash"', '],"hash"')
              : line,
          ),
        ),
      code: 'bad_entry',
    },
    'a value is missing': {
      of: () => effects,
      change: (texts) =>
        withLines(texts, (lines) =>
          lines.filter((line, n) => !isBlob(line) || n !== lines.findIndex(isBlob)),
        ),
      code: 'bad_entry',
    },
    'a value that no entry needs': {
      of: () => effects,
      change: (texts) =>
        withLines(texts, ([first, ...rest]) => [
          first!,
          '{"blob":1,"hash":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"}',
          ...rest,
        ]),
      code: 'bad_entry',
    },
    'two entries in another order': {
      of: () => every,
      change: (texts) =>
        withLines(texts, (lines) => {
          const [a, b] = lines.flatMap((line, n) =>
            isEntry(line) && isEntry(lines[n + 1] ?? '') ? [n] : [],
          ) as [number, number];
          expect(b).toBeDefined();
          return [...lines.slice(0, a), lines[a + 1]!, lines[a]!, ...lines.slice(a + 2)];
        }),
      code: 'bad_entry',
    },
    'a line that is not canonical': {
      of: () => effects,
      change: (texts) =>
        withFile(texts, 'entries.jsonl', (text) => text.replace('{"id":', '{ "id":')),
      code: 'bad_form',
    },
    'a line of another form': {
      of: () => effects,
      change: (texts) => withLines(texts, (lines) => ['{"format":"assize/export/v1"}', ...lines]),
      code: 'bad_form',
    },
    'a value after the last entry': {
      of: () => effects,
      change: (texts) =>
        withLines(texts, (lines) => [
          ...lines,
          '{"blob":1,"hash":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"}',
        ]),
      code: 'bad_form',
    },
    'the place of an entry': {
      of: () => effects,
      change: (texts) =>
        withFile(texts, 'entries.jsonl', (text) => text.replace('"index":8,', '"index":9,')),
      code: 'not_logged',
    },
    'an erasure that erased another value': {
      of: () => erased,
      change: (texts) =>
        withFile(texts, 'entries.jsonl', (text) =>
          text.replace(
            /"erased":"./,
            (all) => `${all.slice(0, -1)}${all.endsWith('0') ? '1' : '0'}`,
          ),
        ),
      code: 'bad_entry',
    },
    'a proof is missing': {
      of: () => effects,
      change: (texts) => withFile(texts, proofs(texts)[2]!, () => undefined),
      code: 'not_logged',
    },
    'a proof of another entry': {
      of: () => effects,
      change: (texts) => withFile(texts, proofs(texts)[2]!, () => texts[proofs(texts)[3]!]),
      code: 'not_logged',
    },
    'a proof of no entry': {
      of: () => effects,
      change: (texts) => ({
        ...texts,
        [`proofs/${'a'.repeat(64)}.tlog-proof`]: texts[proofs(texts)[0]!]!,
      }),
      code: 'bad_form',
    },
    'a hash of a proof': {
      of: () => effects,
      change: (texts) =>
        withFile(texts, proofs(texts)[0]!, (text) =>
          text.replace(
            /\n(.)(.{42}=)\n/,
            (_all, first, rest) => `\n${first === 'A' ? 'B' : 'A'}${rest}\n`,
          ),
        ),
      code: 'not_logged',
    },
    'the size of the checkpoint': {
      of: () => effects,
      change: (texts) => withFile(texts, 'checkpoint', (text) => text.replace('\n9\n', '\n10\n')),
      code: 'bad_checkpoint',
    },
    'another log signed': {
      of: () => effects,
      change: (texts) =>
        withFile(texts, 'checkpoint', () =>
          signedNote('stranger.example\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n'),
        ),
      code: 'bad_checkpoint',
    },
    'the key of another log': {
      of: () => effects,
      change: (texts) =>
        withJson(texts, 'keys.json', (keys) => {
          keys.log = formatVerifierKey(STRANGER);
        }),
      code: 'bad_checkpoint',
    },
    'a witness that did not cosign': {
      of: () => effects,
      change: (texts) =>
        withJson(texts, 'keys.json', (keys) => {
          keys.witnesses.push(formatVerifierKey(WITNESSES[1]!));
        }),
      code: 'bad_checkpoint',
    },
    'a witness that is not named': {
      of: () => effects,
      change: (texts) =>
        withJson(texts, 'keys.json', (keys) => {
          keys.witnesses = [];
        }),
      code: 'records_differ',
    },
    'the keys of the entries': {
      of: () => every,
      change: (texts) =>
        withJson(texts, 'keys.json', (keys) => {
          keys.entries = ['a'.repeat(64)];
        }),
      code: 'keys_differ',
    },
    'the issuers of the writs': {
      of: () => effects,
      change: (texts) =>
        withJson(texts, 'keys.json', (keys) => {
          keys.writs = [];
        }),
      code: 'keys_differ',
    },
    'the scope': {
      of: () => effects,
      change: (texts) =>
        withJson(texts, 'manifest.json', ({ scope }) => {
          scope.to = '2026-01-01T00:00:00.000000Z';
        }),
      code: 'scope_differs',
    },
    'an entry less in scope': {
      of: () => effects,
      change: (texts) =>
        withJson(texts, 'manifest.json', (manifest) => {
          manifest.in_scope.pop();
        }),
      code: 'scope_differs',
    },
    'another number of entries': {
      of: () => effects,
      change: (texts) =>
        withJson(texts, 'manifest.json', (manifest) => {
          manifest.entries += 1;
        }),
      code: 'bad_manifest',
    },
    'another format': {
      of: () => effects,
      change: (texts) =>
        withJson(texts, 'manifest.json', (manifest) => {
          manifest.format = 'assize/proof-bundle/v2';
        }),
      code: 'bad_manifest',
    },
    'a record too much': {
      of: () => effects,
      change: (texts) =>
        withJson(texts, 'records.json', (records) => {
          records.more = 1;
        }),
      code: 'records_differ',
    },
  };
  test.each(Object.keys(cases))('%s', async (name) => {
    const { of, change, code } = cases[name]!;
    expect(await codesOf(change(of()))).toContain(code);
  });

  test('an entry that is changed, and one that has a value too much, say so', async () => {
    const reasonsOf = async (texts: Texts) => (await faultsOf(texts)).map(({ reason }) => reason);
    const renamed = withFile(effects, 'entries.jsonl', (text) =>
      text.replace('"plain"', '"plaim"'),
    );
    const changed = withFile(effects, 'entries.jsonl', (text) =>
      text.replace('"detail":"no"', '"detail":"on"'),
    );
    const [seven = ''] = effects['entries.jsonl']!.split('\n').filter((line) =>
      line.includes('"detail":"no"'),
    );
    const { id } = JSON.parse(seven);
    expect(await faultsOf(changed)).toContainEqual({
      code: 'bad_entry',
      reason: 'Its text does not hash to its id.',
      entry: id,
    });
    expect((await reasonsOf(renamed)).length).toBeGreaterThan(0);
    const line =
      '{"blob":1,"hash":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"}';
    expect(await reasonsOf(withLines(effects, (lines) => [line, ...lines]))).toEqual([
      'A value stands before it that it does not need there.',
    ]);
  });

  test('a proof that leads to another checkpoint with the same tree says so', async () => {
    const [name = ''] = proofs(effects);
    const isWitness = (line: string) => line.startsWith('\u2014 witness');
    const changed = withFile(effects, name, (text) =>
      text
        .split('\n')
        .filter((line) => !isWitness(line))
        .join('\n'),
    );
    expect((await faultsOf(changed)).map(({ reason }) => reason)).toEqual([
      'Its proof leads to another checkpoint.',
    ]);
  });

  test('each member of the records', async () => {
    for (const name of Object.keys(JSON.parse(effects['records.json']!))) {
      const changed = withJson(effects, 'records.json', (records) => {
        records[name] = Array.isArray(records[name]) ? [...records[name], 'more'] : {};
      });
      expect([name, await codesOf(changed)]).toEqual([name, ['records_differ']]);
    }
  });

  test('each approver in the records', async () => {
    const changed = withJson(effects, 'records.json', ({ approvals }) => {
      approvals[0].steps[0].by.principal = 'another';
    });
    expect(await codesOf(changed)).toEqual(['records_differ']);
  });

  test.each([
    ['the first entry', 'effects', 0],
    ['a proposal that was decided', 'effects', 3],
    ['a commit that was settled', 'effects', 1],
  ])('%s is missing, with its proof', async (_what, ledger, seq) => {
    const texts = await textsFor(ledger);
    expect(await codesOf(withoutEntry(texts, (payload) => payload.seq === seq))).toContain(
      'context_missing',
    );
  });

  test('an entry within the period is missing, and the manifest agrees', async () => {
    const [, second = ''] = JSON.parse(effects['manifest.json']!).in_scope;
    const less = withJson(
      withoutEntry(effects, (payload) => payload.seq === 1),
      'manifest.json',
      (manifest) => {
        manifest.entries -= 1;
        manifest.in_scope = manifest.in_scope.filter((id: string) => id !== second);
      },
    );
    expect((await faultsOf(less)).map(({ reason }) => reason)).toContain(
      'An entry before it is in the period, and is missing.',
    );
  });

  test('the entry that erased a value is missing, with its proof', async () => {
    const isErasure = (payload: any) => payload.action?.name === 'assize.erase';
    expect(await codesOf(withoutEntry(erased, isErasure))).toContain('context_missing');
  });
});

/** The bundle without an entry and its proof. */
function withoutEntry(texts: Texts, isGone: (payload: any) => boolean): Texts {
  const gone = texts['entries.jsonl']!.split('\n').find(
    (line) => isEntry(line) && isGone(JSON.parse(line).payload),
  )!;
  const { [`proofs/${JSON.parse(gone).id}.tlog-proof`]: _proof, ...rest } = withLines(
    texts,
    (lines) => lines.filter((line) => line !== gone),
  );
  return rest;
}

test('the keys that a reader gives are compared', async () => {
  const files = readZip(zipOf(effects));
  const codes = async (...given: Parameters<typeof verify>) =>
    (await verify(...given)).findings.faults.map(({ code }) => code);
  const key = (one: typeof LOG) => readKey(formatVerifierKey(one))!;
  expect(await codes(files, { log: key(LOG), witnesses: [key(WITNESS)] })).toEqual([]);
  expect(await codes(files, { log: key(STRANGER) })).toEqual(['other_key']);
  expect(await codes(files, { witnesses: [key(WITNESSES[1]!)] })).toEqual(['not_witnessed']);
});

test('a file that is not a zip, or is cut off, is refused', () => {
  const zip = zipOf(effects);
  expect(() => readZip(new Uint8Array(100))).toThrow('It is not a zip.');
  expect(() => readZip(zip.slice(0, -30))).toThrow('It is not a zip.');
  expect(() => readZip(zip.slice(30))).toThrow(
    /not where the directory says|directory is damaged|cut off/,
  );
  expect(() => readZip(zipOf({ ...effects, 'a/b.txt': '' }))).toThrow(
    'does not belong in a bundle',
  );
});

function proofs(texts: Texts): string[] {
  return Object.keys(texts).filter((name) => name.startsWith('proofs/'));
}
