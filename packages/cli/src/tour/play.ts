/** Plays the scenes of a script: agents propose on their own days, and people decide. */
import { issueWrit, type Writ } from 'assize/internal/authority';
import { addMicros, type Instant } from 'assize/internal/canon';
import type { RootKey } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import type { Assize, CreateOptions, Ruling, Trajectory } from 'assize/internal/runtime';

/** A proposal of a script. */
export interface Move {
  readonly role: string;
  readonly params: Readonly<Record<string, string>>;
  readonly action: string;
  readonly args: object;
  /** The ruling that the story expects, or the deciding invariant. */
  readonly becomes: string;
  /** The idempotency key. By default each move has its own. */
  readonly key?: string;
  /** Printed before the proposal. */
  readonly note?: (trajectory: Trajectory) => string;
}

/** The moves of a day. At `approval` a person decides about what is pending. */
export interface Scene {
  readonly day: string;
  readonly heading: string;
  readonly moves: readonly (Move | 'approval')[];
}

export interface Stage {
  readonly trajectory: Trajectory;
  /** The writs of the agents by their roles. */
  readonly writs: ReadonlyMap<string, Writ>;
  /** The clock of the runtime. The scenes set it: nine o'clock, and a minute for each move. */
  readonly clock: { at: Instant };
  /** The person who decides. */
  readonly person: string;
}

/** Gets the scenes, and of each move with its ruling. */
export interface Audience {
  scene(scene: Scene): void;
  /** `rule`: makes the move. */
  move(move: Move | 'approval', rule: () => Promise<Ruling | undefined>): Promise<void>;
}

const SILENT: Audience = {
  scene: () => undefined,
  move: async (_move, rule) => void (await rule()),
};

const MINUTE_MICROS = 60_000_000;

/**
 * A move that was ruled before gets its ruling again, so that an interrupted run is continued.
 *
 * @throws the errors of `propose` and `approve`
 */
export async function playScenes(
  scenes: readonly Scene[],
  stage: Stage,
  { scene: begin, move: take }: Audience = SILENT,
): Promise<void> {
  const { trajectory, writs, clock, person } = stage;
  let asked: string | undefined;
  const propose = async ({ role, params, action, args, key }: Move, place: string) => {
    const ruling = await trajectory.propose({
      ...{ action, args, role: { name: role, params }, idempotencyKey: key ?? place },
      writ: writs.get(role) as Writ,
    });
    if (ruling.ruling === 'escalated') asked = ruling.pending;
    return ruling;
  };
  // Nothing is pending if an earlier run came further. What others asked is not decided here.
  const approve = async () => {
    const pending = trajectory.approvals.pending().find(({ id }) => id === asked);
    if (pending === undefined) return undefined;
    const { digest } = pending.payload;
    return trajectory.approvals.approve(pending.id, {
      principal: person,
      method: 'script',
      digest,
    });
  };
  for (const [n, scene] of scenes.entries()) {
    clock.at = nineOClock(scene.day);
    begin(scene);
    for (const [i, move] of scene.moves.entries()) {
      clock.at = addMicros(clock.at, MINUTE_MICROS);
      await take(move, () =>
        move === 'approval' ? approve() : propose(move, `scene ${n} move ${i}`),
      );
    }
  }
}

/** Nine o'clock in Arizona: seven hours behind UTC all year. */
export function nineOClock(day: string): Instant {
  return `${day}T16:00:00.000000Z`;
}

/** Opens a world of a script, or creates it. */
export async function openOrCreate(
  assize: Assize,
  domain: Domain,
  beginning: CreateOptions & { readonly trajectoryId: string },
): Promise<Trajectory> {
  const known = await assize.trajectories();
  if (known.some(({ trajectory_id }) => trajectory_id === beginning.trajectoryId))
    return assize.open(beginning.trajectoryId);
  return (await assize.create(domain, beginning)) as Trajectory;
}

/** Fixed, so that the same grant is the same writ in every run. */
const NOT_BEFORE = '2020-01-01T00:00:00.000000Z';
const EXPIRES = '2100-01-01T00:00:00.000000Z';

/** A writ of a root key for one scripted agent, in one trajectory. */
export function roleWrit(
  { publicKey, privateKey }: Pick<RootKey, 'publicKey' | 'privateKey'>,
  terms: Pick<Writ, 'subject' | 'actions' | 'scopes'> & { readonly trajectory: string },
): Writ {
  const nonce = `tour ${terms.trajectory} ${terms.subject}`;
  return issueWrit(
    { issuer: publicKey, ...terms, nonce, not_before: NOT_BEFORE, expires: EXPIRES, max_depth: 0 },
    privateKey,
  );
}
