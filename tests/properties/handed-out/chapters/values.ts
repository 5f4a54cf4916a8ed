/** The functions that need no runtime: on writs, canonical texts, keys, clocks and rule tables. */
import { isAssizeError } from '#base';
import { LEAD, type Stage } from '../stage.ts';

const TABLE = {
  id: 'house',
  otherwise: 'allow',
  rules: [
    { id: 'r1', effect: 'deny', actions: ['pay'], scopes: ['account:*'], because: 'No payments.' },
  ],
};

export async function values(stage: Stage): Promise<void> {
  for (let time = 0; time < 2; time++) {
    ofWrits(stage);
    ofTexts(stage);
    ofPolicies(stage);
    ofLineage(stage);
  }
  await ofSinks(stage);
}

function ofWrits({ library, writs }: Stage): void {
  library.writId(writs.leader);
  library.parseWrit(writs.leader);
  const grant = { subject: 'helper', scopes: ['account:ann'], budget: { cents: 5 }, nonce: 'n' };
  library.attenuate(writs.leader, grant, LEAD.privateKey);
  library.delegateWrit(writs.leader, { ...grant, trajectory: 'other' }, LEAD.privateKey);
}

function ofTexts({ library, hands }: Stage): void {
  const value = { list: [1, { deep: ['x'] }], text: 'y' };
  library.parseStrict(library.canonicalize(value));
  library.contentHash(value);
  library.generateKeys(new Uint8Array(32).fill(3));
  const clock = library.fixedClock(library.instantFromMillis(1_700_000_000_000));
  hands.library('Clock.now', clock.now)();
  library.isErased(value);
  try {
    library.parseStrict('{"a":1,"a":2}');
  } catch (error) {
    library.isAssizeError(error);
    if (!isAssizeError(error)) throw error;
  }
}

function ofPolicies({ library, hands }: Stage): void {
  const { evaluate } = library.ruleTable(library.parseRuleTable(TABLE));
  const query = {
    action: 'pay',
    role: { name: 'clerk', params: {} },
    args: {},
    scopes: ['account:ann'],
  };
  const place = {
    principal: 'clerk',
    writ_id: 'a'.repeat(64),
    trajectory_id: 'shop',
    at: '2026-03-23T09:00:00.000000Z',
  };
  hands.library('ruleTable.evaluate', evaluate)({ ...query, ...place });
  library.unknownNames(library.parseRuleTable(TABLE), { domains: [], tools: [] });
}

function ofLineage({ library }: Stage): void {
  library.writeToken(1);
  library.trustToken('policy', 'p1');
}

async function ofSinks({ library, hands, on }: Stage): Promise<void> {
  library.fileSink('unused.checkpoint');
  const sink = library.streamSink(on('streamSink.write', () => undefined));
  await hands
    .library(
      'CheckpointSink.put',
      sink.put,
    )('a text')
    .catch(() => undefined);
}
