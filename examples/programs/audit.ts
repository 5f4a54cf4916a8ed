// An auditor checks a ledger alone, and finds one changed byte in the export and the database.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { exportLines, importLines, integrateLog, splitLines } from '@assize/audit';
import {
  Assize,
  defineDomain,
  generateKeys,
  issueWrit,
  openStore,
  pass,
  reject,
  verifyStore,
} from 'assize';
import { z } from 'zod';

const till = defineDomain({
  name: 'till',
  version: '1',
  state: z.object({ cents: z.number() }),
  initial: { cents: 10_000 },
  processes: { paying: { writes: ['/cents'] } },
  roles: { cashier: { processes: ['paying'] } },
  actions: {
    pay: {
      process: 'paying',
      args: z.object({ to: z.string(), cents: z.number() }),
      apply: (state, { cents }) => {
        state.cents -= cents;
      },
    },
  },
  invariants: ({ invariant }) => [
    invariant('NEVER_BELOW_ZERO', ['/cents'], ({ cents }) =>
      cents >= 0 ? pass : reject('the till is empty'),
    ),
  ],
});

const folder = mkdtempSync(join(tmpdir(), 'assize-audit-'));
const file = join(folder, 'till.db');
const root = generateKeys();
const terms = { subject: 'agent:ada', actions: ['pay'], scopes: ['**'], max_depth: 0, nonce: '1' };
const period = {
  not_before: '2026-01-01T00:00:00.000000Z',
  expires: '2100-01-01T00:00:00.000000Z',
};
const writ = issueWrit({ issuer: root.publicKey, ...terms, ...period }, root.privateKey);

// The operator: three proposals. The rule rejects one of them. The rejection is an entry as well.
let store = await openStore(`sqlite:${file}`);
const assize = new Assize({ store, domains: [till], anchors: [root.publicKey] });
const trajectory = await assize.create(till, { trajectoryId: 'till', writs: [writ] });
for (const [to, cents] of [
  ['Ann', 4_000],
  ['Ben', 7_000],
  ['Cem', 500],
] as const) {
  const ruling = await trajectory.propose({
    action: 'pay',
    role: 'cashier',
    args: { to, cents },
    writ,
  });
  console.log(`pay ${to} ${cents}: ${ruling.ruling}`);
}
await integrateLog(store); // Gives each entry its place in the Merkle log. The export follows it.
let exported = '';
for await (const line of exportLines(store)) exported += line;
await store.close();

/**
 * Imports an export into an empty store, and verifies every trajectory there: ids, chain, rules,
 * patches, writs.
 */
async function audit(text: string): Promise<string> {
  const copy = await openStore('memory:');
  const { entries } = await importLines(copy, splitLines(ReadableStream.from([Buffer.from(text)])));
  const reports = await verifyStore(copy);
  return `${entries} entries, valid: ${reports.every(({ valid }) => valid)}`;
}
console.log('the export:', await audit(exported));

// One byte of the export is changed: the rejected proposal then asks for 1000 and not for 7000.
const forged = exported.replace('"cents":7000', '"cents":1000');
console.log('a forged export:', await audit(forged).catch(({ message }) => message));

// The same byte is changed in the database, without the trigger that refuses changes. The payload
// no longer hashes to the id that the next entry names.
const db = new DatabaseSync(file);
db.exec(
  `DROP TRIGGER entry_unchanged; UPDATE entry SET payload = replace(payload, '"cents":7000', '"cents":1000')`,
);
db.close();
store = await openStore(`sqlite:${file}`, { mode: 'readonly' });
for (const { trajectory_id, valid, fault } of await verifyStore(store))
  console.log(
    `the database: ${trajectory_id} valid: ${valid}, seq ${fault?.seq}, ${fault?.code}: ${fault?.detail}`,
  );
await store.close();
rmSync(folder, { recursive: true });
