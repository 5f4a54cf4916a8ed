// Memory has two times: when a fact is valid, and when the record learned it. A correction keeps
// the corrected fact.
import { Assize, defineDomain, generateKeys, issueWrit, openStore } from 'assize';
import { z } from 'zod';

const supply = defineDomain({
  name: 'supply',
  version: '1',
  state: z.object({}),
  initial: {},
  processes: {},
  roles: {},
  actions: {},
  invariants: [],
  // One price at a time. Of two that contradict each other, the more confident source wins (`evi`).
  memory: { predicates: { price: { cardinality: 'single-valued', strategy: 'evi' } } },
});

let now = '2026-01-05T09:00:00.000000Z'; // A clock of our own, so that the story spans months.
const store = await openStore('memory:');
const root = generateKeys();
const assize = new Assize({
  store,
  domains: [supply],
  anchors: [root.publicKey],
  ports: { clock: { now: () => now } },
});
const terms = {
  subject: 'agent:buyer',
  actions: ['assize.believe'],
  scopes: ['memory:supply:**'],
  nonce: '1',
};
const period = {
  not_before: '2026-01-01T00:00:00.000000Z',
  expires: '2100-01-01T00:00:00.000000Z',
};
const writ = issueWrit(
  { issuer: root.publicKey, max_depth: 0, ...terms, ...period },
  root.privateKey,
);
const trajectory = await assize.create(supply, { writs: [writ] });
const memory = trajectory.memory({ space: 'supply', writ });

const steel = { subject: 'steel', predicate: 'price' };
const on = (day: string) => `2026-${day}T00:00:00.000000Z`;

// January: the price list says 10.
await memory.assert({
  ...steel,
  object: '10',
  confidence: 0.6,
  valid: { from: on('01-01') },
  source: 'price list',
});

// 20 April: an invoice shows that the price has been 12 since 1 March. The buyer did not know that
// in March.
now = on('04-20');
await memory.assert({
  ...steel,
  object: '12',
  confidence: 0.9,
  valid: { from: on('03-01') },
  source: 'invoice 88',
});

/** The price that held on one day, as the record knew it on another day (now, if none is given). */
async function price(valid: string, system?: string): Promise<string> {
  const { facts } = await memory.recall({
    ...steel,
    valid,
    ...(system !== undefined && { system }),
  });
  return facts.map(({ object }) => object).join();
}
console.log('price on 15 February:', await price(on('02-15')));
console.log('price on 15 March:', await price(on('03-15')));
console.log('price on 15 March, as believed on 15 March:', await price(on('03-15'), on('03-15')));

// Why does the fact 12 hold? The contradiction is on record, with the losing fact and the entry
// that asserted it.
const [fact] = (await memory.recall(steel)).facts;
for (const { witness } of (await memory.explain(fact!)).contradictions) {
  if (witness === 'erased') continue;
  const members = [...witness.members].sort((a, b) => a.confidence - b.confidence);
  for (const { claim, object, confidence } of members)
    console.log(
      claim === witness.winner ? 'won: ' : 'lost:',
      object,
      'with confidence',
      confidence,
    );
}

// A weaker rumour changes nothing that is believed, and is on record too.
await memory.assert({
  ...steel,
  object: '9',
  confidence: 0.1,
  valid: { from: on('04-01') },
  source: 'rumour',
});
console.log('price after the rumour:', await price(now));
await store.close();
