import { writId } from '#authority';
import { contentHash } from '#canon';
import {
  bodyText,
  claimTexts,
  type EffectClass,
  readClaim,
  recordsText,
  type Tool,
} from '#effects';
import { type BlobRow, type EffectStore, type LedgerStore, storeSalted } from '#ledger';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

const BLIND: EffectClass = { reversibility: 'reversible', delivery: 'externalised', sink: 'blind' };
const SALT = 'ab'.repeat(16);

export const blindTool: Tool = toolFor(
  { sink: new OutsideSink('blind'), steps: new Steps() },
  'reversible',
  'externalised',
);

/**
 * Creates `count` effects in trajectory `t` with unknown outcomes. The process that called them has
 * ended.
 */
export async function createInDoubtEffects(
  store: LedgerStore & EffectStore,
  count: number,
): Promise<void> {
  const writ = writFor('alice');
  const assize = runtimeOver(store, [tally]);
  await assize.create(tally, { trajectoryId: 't', writs: [writ] });
  await assize.close();
  const { fence, release } = await store.leaseEffects();
  const blobs: BlobRow[] = [];
  const claims = claimTexts([readClaim('write', 'test:p')]);
  const body = { principal: 'alice', writ_id: writId(writ), claims };
  const begun = Array.from({ length: count }, (_, n) => ({
    epoch: n + 1,
    trajectory_id: 't',
    body: bodyText({ ...body, transaction: `${n}` }),
  }));
  const { name: tool } = blindTool;
  const records = begun.map(({ epoch }) => {
    const payload = storeSalted({ tool, input: 'p', claims: [...claims], cost: {} }, SALT, blobs);
    const called = {
      is: 'intended',
      key: contentHash({ epoch }),
      tool,
      class: BLIND,
      payload,
    } as const;
    return { epoch, place: 0, record: recordsText([called]) };
  });
  await store.logEffects({ fence, begun, records }, blobs);
  await release();
}
