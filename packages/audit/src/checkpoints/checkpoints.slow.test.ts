import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeys } from 'assize/internal/canon';
import type { EntryRow } from 'assize/internal/ledger';
import {
  parseProofFile,
  type SignerKey,
  signCheckpoint,
  signerKey,
  verifierKey,
  verifyProofFile,
} from 'assize/internal/merkle';
import { openStore, type Store } from 'assize/internal/stores';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { WitnessFile, witnessServer } from '#witness';
import {
  ChainWriter,
  commitMembers,
  rootMembers,
  second,
} from '../../../../tests/support/ledger/rows.ts';
import { openUnguarded } from '../../../../tests/support/ledger/unguarded.ts';
import { auditCheckpoints } from './audit.ts';
import { makeCheckpoint, readCheckpoint, type Witness } from './checkpoint.ts';
import { fsck } from './fsck.ts';
import { httpWitness } from './http-witness.ts';
import { proveEntry } from './prove.ts';
import { fileSink, readCheckpointFile } from './sinks.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-checkpoint-'));
afterAll(() => rmSync(folder, { recursive: true }));

const key = (name: string, use: 'note' | 'cosignature', seed: number): SignerKey =>
  signerKey(name, use, generateKeys(new Uint8Array(32).fill(seed)).privateKey);
const signer = key('example.com/ledger', 'note', 1);
const log = { origin: signer.name, keys: [signer] };

let files = 0;
interface Place {
  readonly path: string;
  readonly url: string;
  readonly file: string;
  readonly rows: readonly EntryRow[];
}

/** Two trajectories of ten entries in a file. */
async function made(salt = ''): Promise<Place> {
  const path = join(folder, `${++files}.db`);
  const url = `sqlite:${path}`;
  const store = await openStore(url);
  const rows: EntryRow[] = [];
  for (const name of ['a', 'b']) {
    const writer = new ChainWriter(name);
    writer.add('root', rootMembers({ n: 0, salt }));
    for (let n = 1; n < 10; n++) {
      writer.add('commit', {
        ...commitMembers([{ op: 'replace', path: '/n', value: n }]),
        at: second(n),
      });
    }
    for (const row of writer.rows) await store.commit({ entries: [row], blobs: [] });
    rows.push(...writer.rows);
  }
  await store.close();
  return { path, url, file: `${path}.checkpoint`, rows };
}

const withStore = async <T>(
  url: string,
  work: (store: Store) => Promise<T>,
  checkpoint?: false,
): Promise<T> => {
  const store = await openStore(url, checkpoint === false ? { checkpoint } : {});
  try {
    return await work(store);
  } finally {
    await store.close();
  }
};

const checkpointed = (place: Place): Promise<string> =>
  withStore(place.url, async (store) => {
    const last = await readCheckpointFile(place.file);
    const options = {
      signer,
      sinks: [fileSink(place.file)],
      ...(last === undefined ? {} : { last }),
    };
    return (await makeCheckpoint(store, options)).signed;
  });

function sql(place: Place, ...statements: string[]): void {
  const db = openUnguarded(place.path);
  for (const statement of statements) db.exec(statement);
  db.close();
}

const cut = (count: number): string[] => [
  `DELETE FROM log WHERE idx >= (SELECT count(*) FROM entry) - ${count}`,
  `DELETE FROM entry WHERE position > (SELECT max(position) FROM entry) - ${count}`,
  'DELETE FROM log_node WHERE (idx + 1) << level > (SELECT count(*) FROM log)',
];

describe('the file of the last checkpoint', () => {
  const signedAt = (size: number, by = signer): string =>
    signCheckpoint({ size, root: new Uint8Array(32) }, by);

  test('keeps a larger checkpoint that another process made in the meantime', async () => {
    const file = join(folder, `${++files}.checkpoint`);
    const sink = fileSink(file);
    for (const size of [2, 3, 3]) await sink.put(signedAt(size));
    await expect(sink.put(signedAt(2))).rejects.toMatchObject({
      code: 'bad_checkpoint',
      message: expect.stringContaining('has a newer checkpoint of'),
      retryable: true,
    });
    expect(readFileSync(file, 'utf8')).toBe(signedAt(3));
    const other = key('example.com/other', 'note', 2);
    await sink.put(signedAt(1, other));
    expect(readFileSync(file, 'utf8')).toBe(signedAt(1, other));
  });

  test('is one of several concurrent ones; no draft is left, also on failure', async () => {
    const place = mkdtempSync(join(folder, 'place-'));
    const sink = fileSink(join(place, 'last'));
    await Promise.allSettled([1, 2, 3, 4].map((size) => sink.put(signedAt(size))));
    expect(readdirSync(place)).toEqual(['last']);
    mkdirSync(join(place, 'folder'));
    await expect(fileSink(join(place, 'folder')).put(signedAt(1))).rejects.toThrow();
    expect(readdirSync(place)).toEqual(['folder', 'last']);
  });
});

describe('a store that is behind its last checkpoint is not opened', () => {
  test('a tail that was cut off, at every length', async () => {
    const place = await made();
    await checkpointed(place);
    copyFileSync(place.path, `${place.path}.whole`);
    for (let count = 1; count <= 20; count++) {
      copyFileSync(`${place.path}.whole`, place.path);
      sql(place, ...cut(count));
      await expect(openStore(place.url)).rejects.toMatchObject({
        code: 'bad_checkpoint',
        message: expect.stringMatching(
          `${count} entr(y is|ies are) missing, from position ${20 - count} of the log`,
        ),
        evidence: { checkpoint: 20, log: 20 - count },
      });
    }
    // To read the current content.
    await withStore(place.url, async (store) => expect(await store.logSize()).toBe(0), false);
  });

  test('an older copy in its place', async () => {
    const place = await made();
    await checkpointed(place);
    copyFileSync(place.path, `${place.path}.old`);
    const more = new ChainWriter('c');
    more.add('root', rootMembers({ n: 0 }));
    await withStore(place.url, (store) => store.commit({ entries: more.rows, blobs: [] }));
    await checkpointed(place);
    copyFileSync(`${place.path}.old`, place.path);
    await expect(openStore(place.url)).rejects.toMatchObject({
      evidence: { checkpoint: 21, log: 20 },
    });
  });

  test('entries that are gone while the log’s own rows are there', async () => {
    const place = await made();
    await checkpointed(place);
    sql(place, 'DELETE FROM entry WHERE position = (SELECT max(position) FROM entry)');
    await expect(openStore(place.url)).rejects.toMatchObject({
      code: 'bad_checkpoint',
      message: expect.stringContaining('(checkpoint'),
    });
  });

  test('another history of the same length is apart', async () => {
    const [place, other] = [await made(), await made('another')];
    await checkpointed(place);
    await checkpointed(other);
    copyFileSync(other.path, place.path);
    await expect(openStore(place.url)).rejects.toMatchObject({
      code: 'bad_checkpoint',
      message: expect.stringContaining('(checkpoint'),
    });
  });

  test('a checkpoint that can’t be read does not count as valid', async () => {
    const place = await made();
    const signed = await checkpointed(place);
    for (const spoilt of ['', 'x', signed.slice(0, -1), signed.replace('\n20\n', '\n020\n')]) {
      writeFileSync(place.file, spoilt);
      await expect(openStore(place.url)).rejects.toMatchObject({
        code: 'bad_checkpoint',
        message: expect.stringContaining("The store's checkpoint cannot"),
      });
    }
  });

  test('one without upper hashes opens, is audited and grows; without a leaf not', async () => {
    const place = await made();
    const old = await checkpointed(place);
    sql(place, 'DELETE FROM log_node WHERE level > 1');
    const more = new ChainWriter('c');
    more.add('root', rootMembers({ n: 0 }));
    await withStore(place.url, async (store) => {
      await store.commit({ entries: more.rows, blobs: [] });
      const { signed } = await makeCheckpoint(store, { signer, last: old });
      expect(await auditCheckpoints(store, [old, signed], log)).toMatchObject({
        consistent: true,
        findings: [],
      });
      const proof = await proveEntry(store, place.rows[3]!.id, old, log);
      expect(
        verifyProofFile(proof, place.rows[3]!.payload, { log, witnesses: [], quorum: 0 }).valid,
      ).toBe(true);
    });
    const recent = await checkpointed(place);
    sql(place, 'DELETE FROM log WHERE idx = 2; DELETE FROM log_node WHERE level = 1');
    const lost = {
      consistent: false,
      store: 'diverged',
      findings: [expect.stringContaining('cannot prove anything')],
    };
    const audit = withStore(
      place.url,
      (store) => auditCheckpoints(store, [old, recent], log),
      false,
    );
    expect(await audit).toMatchObject(lost);
    await expect(openStore(place.url)).rejects.toMatchObject({
      code: 'missing_node',
      message: expect.stringContaining('restore the log from a backup'),
    });
  });

  test('a continuation of it is opened, and also later commits', async () => {
    const place = await made();
    await checkpointed(place);
    const more = new ChainWriter('c');
    more.add('root', rootMembers({ n: 0 }));
    await withStore(place.url, (store) => store.commit({ entries: more.rows, blobs: [] }));
    await withStore(place.url, async (store) => expect(await store.logSize()).toBe(20));
    await checkpointed(place);
    await withStore(place.url, async (store) => expect(await store.logSize()).toBe(21));
  });
});

describe('making one', () => {
  test('never signs a log that does not continue the last checkpoint', async () => {
    const [place, other] = [await made(), await made('another')];
    const signed = await checkpointed(place);
    const make = (last: string): Promise<unknown> =>
      withStore(other.url, (store) => makeCheckpoint(store, { signer, last }));
    await expect(make(signed)).rejects.toMatchObject({
      code: 'bad_checkpoint',
      message: expect.stringContaining('ledger: its history was rewritten, or the checkpoint'),
    });
    sql(other, ...cut(3));
    await expect(make(signed)).rejects.toMatchObject({
      code: 'bad_checkpoint',
      message: expect.stringContaining('The last checkpoint of'),
    });
    await expect(make(signed.replace('\n20\n', '\n19\n'))).rejects.toMatchObject({
      code: 'bad_checkpoint',
    });
    const stranger = await withStore(other.url, (store) =>
      makeCheckpoint(store, { signer: key('other.org', 'note', 2) }),
    );
    await expect(make(stranger.signed)).rejects.toMatchObject({ code: 'bad_checkpoint' });
  });

  test('the same log twice has the same checkpoint', async () => {
    const place = await made();
    expect(await checkpointed(place)).toBe(await checkpointed(place));
    expect(readFileSync(place.file, 'utf8')).toBe(await checkpointed(place));
  });
});

describe('a proof file', () => {
  test('proves every entry from only the entry and the public key', async () => {
    const place = await made();
    const signed = await checkpointed(place);
    const trust = {
      log: { origin: signer.name, keys: [verifierKey(signer.name, 'note', signer.publicKey)] },
      witnesses: [],
      quorum: 0,
    };
    await withStore(place.url, async (store) => {
      for (const [index, row] of (await store.logged(0, 100)).entries()) {
        const proof = await proveEntry(store, row.id, signed, log);
        expect(verifyProofFile(proof, row.payload, trust)).toMatchObject({
          valid: true,
          index: BigInt(index),
        });
        expect(parseProofFile(proof).signed).toBe(signed);
        expect(verifyProofFile(proof, `${row.payload} `, trust)).toMatchObject({
          valid: false,
          reason: 'not_included',
        });
      }
    });
  });

  test('is not made by a checkpoint that is older than the entry', async () => {
    const place = await made();
    const signed = await checkpointed(place);
    const more = new ChainWriter('c');
    more.add('root', rootMembers({ n: 0 }));
    await withStore(place.url, async (store) => {
      await store.commit({ entries: more.rows, blobs: [] });
      await expect(proveEntry(store, more.head.id, signed, log)).rejects.toMatchObject({
        code: 'not_checkpointed',
        message: expect.stringContaining('Make a new checkpoint and use it for the proof.'),
      });
      await makeCheckpoint(store, { signer });
      await expect(proveEntry(store, more.head.id, signed, log)).rejects.toMatchObject({
        code: 'not_checkpointed',
        message: expect.stringContaining('Make a new checkpoint and use it for the proof.'),
      });
    });
  });
});

test('an entry rewritten after logging is not proven', async () => {
  const place = await made();
  const signed = await checkpointed(place);
  const { id } = place.rows[3]!;
  const fresh = new ChainWriter('a').add('root', rootMembers({ n: 7 }));
  sql(
    place,
    `UPDATE entry SET id = x'${fresh.id}', payload = '${fresh.payload}' WHERE position = 4`,
  );
  // Under an id that does not match its payload.
  sql(place, `UPDATE entry SET id = x'${'ab'.repeat(32)}' WHERE position = 5`);
  await withStore(place.url, async (store) => {
    for (const forged of [fresh.id, 'ab'.repeat(32)])
      await expect(proveEntry(store, forged, signed, log)).rejects.toMatchObject({
        code: 'not_checkpointed',
        message: expect.stringContaining('differs from the logged entry'),
      });
    await expect(proveEntry(store, id, signed, log)).rejects.toMatchObject({
      code: 'not_checkpointed',
      message: expect.stringContaining('Make a new checkpoint and use it for the proof.'),
    });
  });
});

describe('an audit', () => {
  test('tells growth from forks, and detects entries that the store lost', async () => {
    const place = await made();
    const old = await checkpointed(place);
    const more = new ChainWriter('c');
    more.add('root', rootMembers({ n: 0 }));
    await withStore(place.url, (store) => store.commit({ entries: more.rows, blobs: [] }));
    const recent = await checkpointed(place);
    const other = await made('another');
    const forked = await checkpointed(other);
    const audit = (url: string, ...signed: [string, string]) =>
      withStore(url, (store) => auditCheckpoints(store, signed, log), false);
    for (const pair of [
      [old, recent],
      [recent, old],
      [recent, recent],
    ] as [string, string][]) {
      expect(await audit(place.url, ...pair)).toMatchObject({
        consistent: true,
        store: 'at',
        findings: [],
      });
    }
    expect(await audit(place.url, old, forked)).toMatchObject({
      consistent: false,
      findings: [expect.stringContaining('forked'), expect.anything()],
    });
    expect(await audit(place.url, forked, recent)).toMatchObject({
      consistent: false,
      store: 'at',
    });
    expect(await audit(other.url, old, recent)).toMatchObject({
      consistent: false,
      store: 'truncated',
    });
    sql(place, ...cut(1));
    expect(await audit(place.url, old, recent)).toMatchObject({ store: 'truncated' });
    await expect(audit(place.url, old, recent.replace('\n21\n', '\n22\n'))).rejects.toMatchObject({
      code: 'bad_checkpoint',
      message: expect.stringContaining('is not valid. Check that its file was not changed, and'),
    });
  });
});

describe('an audit of a store with the right log hashes', () => {
  const audited = async (...statements: string[]) => {
    const place = await made();
    const old = await checkpointed(place);
    const more = new ChainWriter('c');
    more.add('root', rootMembers({ n: 0 }));
    await withStore(place.url, (store) => store.commit({ entries: more.rows, blobs: [] }));
    const recent = await checkpointed(place);
    sql(place, ...statements);
    return withStore(place.url, (store) => auditCheckpoints(store, [old, recent], log));
  };
  const other = {
    consistent: true,
    store: 'diverged',
    findings: [expect.stringContaining('were changed or removed after they were logged')],
  };

  test('and all entries of it', async () => {
    expect(await audited()).toMatchObject({ consistent: true, store: 'at', findings: [] });
  });

  test('and an entry that was rewritten so that its chain holds', async () => {
    const fresh = new ChainWriter('c').add('root', rootMembers({ n: 7 }));
    expect(
      await audited(
        `UPDATE entry SET id = x'${fresh.id}', payload = '${fresh.payload}' WHERE position = 21`,
      ),
    ).toMatchObject(other);
  });

  test('and a trajectory less', async () => {
    expect(
      await audited(
        `DELETE FROM entry WHERE trajectory = (SELECT key FROM trajectory WHERE name = 'a')`,
        `DELETE FROM trajectory WHERE name = 'a'`,
      ),
    ).toMatchObject(other);
  });
});

describe('fsck', () => {
  const HIDDEN = new ChainWriter('hidden').add('root', rootMembers({ n: 0 }));

  const checked = async (place: Place) => {
    const checkpoint = readCheckpoint(readFileSync(place.file, 'utf8'), log).checkpoint;
    return withStore(place.url, (store) => fsck(store, { checkpoint }), false);
  };

  test('an honest store has nothing', async () => {
    const place = await made();
    await checkpointed(place);
    expect(await checked(place)).toMatchObject({
      valid: true,
      entries: 20,
      logged: 20,
      faults: [],
    });
  });

  test.each<[string, string[], object]>([
    [
      'a text changed',
      [`UPDATE entry SET payload = replace(payload, '"value":7', '"value":8') WHERE position = 8`],
      { code: 'leaf_differs', index: 7 },
    ],
    ['an entry gone', ['DELETE FROM entry WHERE position = 5'], { code: 'log_broken', index: 4 }],
    [
      'two entries in each other’s place',
      [
        'UPDATE log SET entry = -1 WHERE idx = 3',
        'UPDATE log SET entry = 4 WHERE idx = 4',
        'UPDATE log SET entry = 5 WHERE idx = 3',
      ],
      { code: 'log_broken', index: 3 },
    ],
    [
      'a leaf changed',
      [`UPDATE log SET leaf = zeroblob(32) WHERE idx = 6`],
      { code: 'leaf_differs', index: 6 },
    ],
    [
      'a node changed',
      ['UPDATE log_node SET hash = zeroblob(32) WHERE level = 2 AND idx = 1'],
      { code: 'node_differs', level: 2, index: 1 },
    ],
    [
      'a node gone',
      ['DELETE FROM log_node WHERE level = 4'],
      { code: 'node_differs', level: 4, index: 0 },
    ],
    [
      'a cut tail',
      cut(4),
      { code: 'checkpoint', detail: expect.stringContaining('the last 4, from position 16') },
    ],
    [
      'an entry that stands where the log looks no more',
      [
        'UPDATE entry SET position = 21 WHERE position = 20',
        'UPDATE log SET entry = 21 WHERE entry = 20',
        `INSERT INTO trajectory (name) VALUES ('hidden')`,
        `INSERT INTO entry (position, trajectory, seq, id, parent, kind, payload) SELECT 20, (SELECT key FROM trajectory WHERE name = 'hidden'), 0, x'${HIDDEN.id}', NULL, 'root', '${HIDDEN.payload}'`,
      ],
      { code: 'damaged', detail: '1 entries have no position in the log, and cannot get one' },
    ],
    [
      'rows without a trajectory',
      ["PRAGMA ignore_check_constraints = 1; DELETE FROM trajectory WHERE name = 'b'"],
      { code: 'damaged', detail: '10 entries belong to no trajectory' },
    ],
    [
      'a trajectory without entries',
      ["INSERT INTO trajectory (name) VALUES ('x')"],
      { code: 'damaged' },
    ],
    [
      'a name with a NUL',
      ["UPDATE trajectory SET name = CAST(x'6100' AS TEXT) WHERE name = 'a'"],
      { code: 'damaged', detail: expect.stringContaining('NUL') },
    ],
  ])('%s', async (_what, statements, fault) => {
    const place = await made();
    await checkpointed(place);
    sql(place, ...statements);
    const report = await checked(place);
    expect(report.valid).toBe(false);
    expect(report.faults).toContainEqual(expect.objectContaining(fault));
  });

  test('a missing node below the root is named, and the checkpoint is compared', async () => {
    const place = await made();
    await checkpointed(place);
    const more = new ChainWriter('c');
    for (let n = 0; n < 13; n++)
      more.add(n === 0 ? 'root' : 'commit', n === 0 ? rootMembers() : commitMembers());
    await withStore(place.url, async (store) => {
      await store.commit({ entries: more.rows, blobs: [] });
      await makeCheckpoint(store, { signer });
    });
    sql(place, 'DELETE FROM log_node WHERE level = 4 AND idx = 0');
    expect(await checked(place)).toMatchObject({
      valid: false,
      logged: 33,
      faults: [{ code: 'node_differs', level: 4, index: 0 }],
    });
  });

  test('a rewritten history, log and all, is apart from the checkpoint', async () => {
    const [place, other] = [await made(), await made('another')];
    await checkpointed(place);
    await checkpointed(other);
    copyFileSync(other.path, place.path);
    const report = await checked(place);
    expect(report.trajectories.every(({ valid }) => valid)).toBe(true);
    expect(report.faults).toEqual([
      { code: 'checkpoint', detail: expect.stringContaining('do not match the checkpoint') },
    ]);
  });
});

describe('a witness', () => {
  const open: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0)) await close();
  });
  const cosigner = key('witness.example', 'cosignature', 9);

  async function served(
    path = join(folder, `witness-${++files}.db`),
  ): Promise<{ url: string; path: string; stop: () => Promise<void> }> {
    const file = new WitnessFile(path);
    const server = witnessServer({ logs: [log], signer: cosigner, file, now: () => 1_800_000_000 });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    let stopped: Promise<void> | undefined;
    const stop = (): Promise<void> => {
      stopped ??= (async () => {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
        file.close();
      })();
      return stopped;
    };
    open.push(stop);
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, path, stop };
  }

  const witnessed = (place: Place, url: string): Promise<string> =>
    withStore(
      place.url,
      async (store) => {
        const witness = httpWitness({
          url,
          key: verifierKey(cosigner.name, 'cosignature', cosigner.publicKey),
        });
        return (await makeCheckpoint(store, { signer, witnesses: [witness] })).signed;
      },
      false,
    );

  test('cosigns a log that grows, over restarts, and no other history of it', async () => {
    const [place, other] = [await made(), await made('another')];
    const { url, path, stop } = await served();
    const first = await witnessed(place, url);
    expect(readCheckpoint(first, log, [cosigner]).cosignatures).toHaveLength(1);
    expect(await witnessed(place, url)).toBe(first);
    const more = new ChainWriter('c');
    more.add('root', rootMembers({ n: 0 }));
    await withStore(place.url, (store) => store.commit({ entries: more.rows, blobs: [] }));
    await stop();
    const again = await served(path);
    expect(readCheckpoint(await witnessed(place, again.url), log, [cosigner]).checkpoint.size).toBe(
      21n,
    );
    await expect(witnessed(other, again.url)).rejects.toMatchObject({ code: 'witness_failed' });
    const extra = new ChainWriter('d');
    extra.add('root', rootMembers({ n: 0 }));
    extra.add('commit', {
      ...commitMembers([{ op: 'replace', path: '/n', value: 1 }]),
      at: second(1),
    });
    await withStore(other.url, (store) => store.commit({ entries: extra.rows, blobs: [] }));
    await expect(witnessed(other, again.url)).rejects.toMatchObject({
      code: 'witness_failed',
      message: expect.stringContaining('422'),
    });
  });

  test('ahead by a faster process demands a retry; missing entries are reported', async () => {
    const place = await made();
    const { url } = await served();
    const grow = (name: string): Promise<unknown> => {
      const more = new ChainWriter(name).add('root', rootMembers({ n: 0 }));
      return withStore(place.url, (store) => store.commit({ entries: [more], blobs: [] }));
    };
    const asking = httpWitness({
      url,
      key: verifierKey(cosigner.name, 'cosignature', cosigner.publicKey),
    });
    const overtaken: Witness = {
      key: asking.key,
      cosign: async (signed, size, proofFrom) => {
        await grow('c');
        await witnessed(place, url);
        return asking.cosign(signed, size, proofFrom);
      },
    };
    const slower = withStore(place.url, (store) =>
      makeCheckpoint(store, { signer, witnesses: [overtaken] }),
    );
    await expect(slower).rejects.toMatchObject({
      code: 'witness_failed',
      message: expect.stringMatching(
        /has sent it 21 entries .* has 20\. Make the checkpoint again\.$/,
      ),
      retryable: true,
    });
    expect(readCheckpoint(await witnessed(place, url), log, [cosigner]).checkpoint.size).toBe(21n);
    sql(place, 'DELETE FROM log', 'DELETE FROM log_node', 'DELETE FROM entry WHERE position = 21');
    await expect(witnessed(place, url)).rejects.toMatchObject({
      code: 'witness_failed',
      message: expect.stringContaining('the log has 20: entries are missing'),
    });
  });

  test('of many concurrent requests on two histories, one history is cosigned', async () => {
    const [place, other] = [await made(), await made('another')];
    const { url } = await served();
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) => witnessed(i % 2 === 0 ? place : other, url)),
    );
    const roots = new Set(
      results.flatMap((result) =>
        result.status === 'fulfilled'
          ? [Buffer.from(readCheckpoint(result.value, log).checkpoint.root).toString('hex')]
          : [],
      ),
    );
    expect(roots.size).toBe(1);
  });

  test('shows the latest checkpoint to monitors, and refuses other requests', async () => {
    const place = await made();
    const { url } = await served();
    const signed = await witnessed(place, url);
    const { hashText } = await import('assize/internal/canon');
    const shown = await fetch(`${url}${hashText(log.origin)}/checkpoint`);
    expect([shown.status, await shown.text()]).toEqual([200, signed]);
    const status = async (path: string, init?: RequestInit): Promise<number> =>
      (await fetch(`${url}${path}`, init)).status;
    expect(await status(`${'0'.repeat(64)}/checkpoint`)).toBe(404);
    expect(await status('add-checkpoint')).toBe(405);
    expect(await status('other', { method: 'POST', body: 'x' })).toBe(404);
    expect(await status('add-checkpoint', { method: 'POST', body: 'x' })).toBe(400);
    expect(
      await status('add-checkpoint', { method: 'POST', body: 'x'.repeat(2_000_000) }).catch(
        () => 413,
      ),
    ).toBe(413);
    const stranger = await withStore(place.url, (store) =>
      makeCheckpoint(store, { signer: key('other.org', 'note', 2) }),
    );
    expect(
      await status('add-checkpoint', { method: 'POST', body: `old 0\n\n${stranger.signed}` }),
    ).toBe(404);
    const impostor = await withStore(place.url, (store) =>
      makeCheckpoint(store, { signer: key(log.origin, 'note', 3) }),
    );
    expect(
      await status('add-checkpoint', { method: 'POST', body: `old 20\n\n${impostor.signed}` }),
    ).toBe(403);
  });

  test('one that can’t be reached fails the checkpoint, and nothing is kept', async () => {
    const place = await made();
    const { url, stop } = await served();
    await stop();
    const witness = httpWitness({ url, key: cosigner });
    const sinks = [fileSink(place.file)];
    await expect(
      withStore(place.url, (store) =>
        makeCheckpoint(store, { signer, witnesses: [witness], sinks }),
      ),
    ).rejects.toMatchObject({ code: 'witness_failed', retryable: true });
    expect(existsSync(place.file)).toBe(false);
  });
});
