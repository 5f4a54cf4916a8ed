// One transaction books a hotel and a flight and sends a mail: all of them, or none.
import { Assize, defineDomain, generateKeys, issueWrit, openStore, pass, reject } from 'assize';
import { DidNothing, declareTool } from 'assize/effects';
import { z } from 'zod';

const outside: string[] = []; // The effects outside, in order.
// `externalised`: the body needs the answer. The call executes now, and `compensate` reverts it.
// `keyed`: the sink knows each request by its key, so a repeated request books nothing twice.
const booking = (name: string) =>
  declareTool({
    name: `${name}.book`,
    input: z.strictObject({ city: z.string() }),
    class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
    writes: [`${name}:{city}`],
    execute: ({ city }) => {
      // DidNothing is certain. After any other error the booking may exist.
      if (city === 'Atlantis' && name === 'flight')
        throw new DidNothing('there is no flight', { final: true });
      outside.push(`${name} booked: ${city}`);
    },
    compensate: ({ city }) => {
      outside.push(`${name} cancelled: ${city}`);
      return { undone: 'all' };
    },
  });

// `irreversible`, `buffered`: the mail waits for the commit.
const mail = declareTool({
  name: 'mail.send',
  input: z.strictObject({ city: z.string() }),
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['mail:{city}'],
  execute: ({ city }) => void outside.push(`mail sent: ${city}`),
});

const travel = defineDomain({
  name: 'travel',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({ left: z.number() }),
  initial: { left: 1_000 },
  processes: { travelling: { writes: ['/left'] } },
  roles: { traveller: { processes: ['travelling'] } },
  actions: {
    pay: {
      process: 'travelling',
      args: z.object({ euros: z.number() }),
      apply: (state, { euros }) => {
        state.left -= euros;
      },
    },
  },
  invariants: ({ invariant }) => [
    invariant('BUDGET', ['/left'], ({ left }) =>
      left >= 0 ? pass : reject(`${-left} euros too much`),
    ),
  ],
});

const store = await openStore('memory:');
const root = generateKeys();
const terms = {
  subject: 'agent:ada',
  actions: ['**'],
  scopes: ['**'],
  max_depth: 0,
  nonce: 'ada-1',
};
const period = {
  not_before: '2026-01-01T00:00:00.000000Z',
  expires: '2100-01-01T00:00:00.000000Z',
};
const writ = issueWrit({ issuer: root.publicKey, ...terms, ...period }, root.privateKey);
const tools = [booking('hotel'), booking('flight'), mail];
const assize = new Assize({ store, domains: [travel], anchors: [root.publicKey], tools });
const trajectory = await assize.create(travel, { writs: [writ] });

async function book(city: string, euros: number): Promise<void> {
  const booked = trajectory.transaction({ writ, writes: [`*:${city}`] }, async (tx) => {
    for (const tool of ['hotel.book', 'flight.book', 'mail.send']) await tx.call(tool, { city });
    tx.propose({ action: 'pay', role: 'traveller', args: { euros } });
  });
  await booked.then(
    ({ ruling }) =>
      console.log(
        city,
        ruling.ruling === 'rejected' ? `rejected: ${ruling.detail}` : ruling.ruling,
      ),
    ({ message }) => console.log(city, message),
  );
  for (const line of outside.splice(0)) console.log('   ', line);
}
await book('Rome', 600); // Everything happens; the mail comes last.
await book('Paris', 700); // The budget rejects the proposal: both bookings are taken back, and no mail is sent.
await book('Atlantis', 100); // The airline refuses: the hotel is taken back.
await store.close();
