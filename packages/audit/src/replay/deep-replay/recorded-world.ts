import { copyJson, parsePointer, toPointer, WORLD_LIMITS } from 'assize/internal/canon';
import {
  type Amendment,
  type Approved,
  type Authority,
  adjudicate,
  amendPending,
  type CounselorCommit,
  candidateOf,
  compile,
  type Domain,
  type Finding,
  type Inputs,
  type Instant,
  type Intent,
  keepsValues,
  type PatchOperation,
  type PendingProposal,
  patchesOf,
  type RuleResult,
  type Ruling,
  World,
} from 'assize/internal/kernel';
import {
  applyPatches,
  type Folded,
  type Patch,
  type RoleRef,
  type VectorItem,
} from 'assize/internal/ledger';
import { type BrokenByRecord, brokenBy } from './vector.ts';

/** The changes of an action on a state, before any rule is checked. */
export interface ActionOutcome {
  readonly cost: Readonly<Record<string, number>>;
  readonly patches: readonly PatchOperation[];
}

export const NOTHING_BROKEN: BrokenByRecord = new Set();

/**
 * How a recorded decision is run again. A comparison shows whether the record has `override` where
 * it must.
 */
export const RECORDED = { override: true, isRecorded: true } as const;

/** Grants everything: for proposals that were authorised when recorded. */
export const GRANTED: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

/**
 * The recorded state of a fold, with a domain that is run again on each step.
 *
 * Violations in the record count against later proposals, as they did originally. A violation found
 * only by the current domain is reported once, and then ignored until an entry changes its paths.
 * Otherwise it would hide other differences in all later entries.
 */
export class RecordedWorld {
  readonly world: World;
  readonly #aside: Map<string, Finding> = new Map();
  /** Whether every rule was checked on the whole current state. */
  #judgedWhole: boolean = true;

  constructor(domain: Domain, { state, owned }: Folded) {
    this.world = new World(domain, state, owned);
  }

  get domain(): Domain {
    return this.world.domain;
  }

  /** The state, with the parts that may be changed in place, to continue under another domain. */
  get folded(): Folded {
    return { state: this.world.state as Folded['state'], owned: this.world.owned };
  }

  /** The violations of the initial state. */
  begin(broken: BrokenByRecord): Finding[] {
    const found = this.world.failing.filter(
      (finding) => broken.has(finding.rule.id) || !this.world.isExcused(finding),
    );
    this.#setAside(broken);
    return found;
  }

  /**
   * Adjudicates as the runtime did. Arguments of a commit were parsed then; they are parsed again
   * only if that changes nothing.
   */
  adjudicate(intent: Intent, authority: Authority, inputs: Inputs, parsed: boolean): Ruling {
    return adjudicate(this.world, intent, authority, inputs, {
      parsed: parsed && !this.#keepsArgs(intent),
    });
  }

  /** Amends a pending proposal as the runtime did. Arguments are parsed as in `adjudicate`. */
  amend(
    waiting: PendingProposal,
    counselor: { readonly principal: string; readonly at: Instant },
    { intent, calls }: Omit<Amendment, 'parsed'>,
    authority: Authority,
  ): ReturnType<typeof amendPending> {
    const amendment = { intent, calls, parsed: !this.#keepsArgs(intent) };
    return amendPending(this.world, waiting, { ...counselor, ...RECORDED }, amendment, authority);
  }

  /**
   * The changes of the action without any rule, writ, policy or budget; undefined if it is refused
   * anyway.
   */
  made(intent: Intent, inputs: Inputs): ActionOutcome | undefined {
    const compiled = compile(this.domain, intent, GRANTED, { parsed: !this.#keepsArgs(intent) });
    if ('reason' in compiled) return undefined;
    const candidate = candidateOf(this.world, compiled, inputs);
    if ('reason' in candidate) return undefined;
    const patches = copied(patchesOf(this.domain, candidate.draft.state, candidate.changes));
    this.world.rollback(candidate.draft);
    return { cost: compiled.cost, patches };
  }

  /**
   * Whether a value is erased that a proposal may read, or that the rules on its writes may read.
   * The proposal had the value originally.
   */
  isWithout({ name, role }: { readonly name: string; readonly role: RoleRef }): boolean {
    const { actions, roles } = this.domain;
    const process = (actions as Record<string, Domain['actions'][string] | undefined>)[name]
      ?.process;
    const known = Object.hasOwn(roles, role.name) ? roles[role.name] : undefined;
    if (process === undefined || known === undefined) return false;
    if (known.params?.some((param) => !Object.hasOwn(role.params, param))) return false;
    return this.world.isErasedIn(this.domain.bind(process, role.params).closure);
  }

  /** Failed rules of a vector that read an erased value: with the value they may have passed. */
  excusedIn(vector: readonly VectorItem[]): ReadonlySet<string> {
    const broken = brokenBy(vector);
    const excused = this.domain.rules.filter(
      ({ id, patterns }) => broken.has(id) && this.world.isErasedIn(patterns),
    );
    return new Set(excused.map(({ id }) => id));
  }

  /** Applies a commit that came out as recorded. Returns the new violations. */
  keep(approved: Approved, patches: readonly PatchOperation[]): Finding[] {
    if (this.#aside.size === 0) {
      approved.keep();
      this.#judgedWhole = false;
      return [];
    }
    approved.undo();
    return this.follow(patches, NOTHING_BROKEN);
  }

  /** Applies a counselor's commit that came out as recorded. Returns the new violations. */
  keepCounsel(commit: CounselorCommit, broken: BrokenByRecord): Finding[] {
    const before = this.#failing();
    commit.keep();
    this.#judgedWhole = true;
    this.#aside.clear();
    const found = this.world.failing.filter((finding) => !before.has(nameOf(finding)));
    this.#setAside(broken);
    return found;
  }

  /**
   * Applies the recorded changes, regardless of the domain's result; their values become part of
   * the state. Returns the new violations.
   *
   * @throws Error for patches that cannot be applied
   */
  follow(patches: readonly PatchOperation[], broken: BrokenByRecord): Finding[] {
    const before = new Set(this.world.failing.map(nameOf));
    const fold = this.folded;
    this.#judgedWhole = false;
    applyPatches(fold, patches as readonly Patch[]);
    const judged = this.world.follow(
      fold.state,
      patches.map(({ path }) => ({ keys: parsePointer(path) })),
    );
    const fresh: Finding[] = [];
    for (const place of judged) {
      const name = nameOf(place);
      if (!isFinding(place)) this.#aside.delete(name);
      else if (!before.has(name) && !this.#aside.has(name) && !this.world.isExcused(place))
        fresh.push(place);
    }
    this.#setAside(broken);
    return fresh;
  }

  /**
   * Checks every rule on the whole state once more. Returns violations that no entry was found to
   * cause.
   */
  unseen(): Finding[] {
    if (this.#judgedWhole) return [];
    const known = this.#failing();
    const { domain, state, owned } = this.world;
    return new World(domain, state, owned).failing.filter((finding) => !known.has(nameOf(finding)));
  }

  #failing(): Set<string> {
    return new Set([...this.#aside.keys(), ...this.world.failing.map(nameOf)]);
  }

  #setAside(broken: BrokenByRecord): void {
    const { failing } = this.world.checks;
    for (const [key, finding] of failing) {
      if (broken.has(finding.rule.id)) continue;
      failing.delete(key);
      this.#aside.set(nameOf(finding), finding);
    }
  }

  #keepsArgs({ action }: Intent): boolean {
    const spec = (this.domain.actions as Record<string, Domain['actions'][string] | undefined>)[
      action
    ];
    return spec === undefined || keepsValues(spec.args);
  }
}

export function copied(patches: readonly PatchOperation[]): readonly PatchOperation[] {
  return copyJson(patches, WORLD_LIMITS) as unknown as readonly PatchOperation[];
}

function isFinding(judged: RuleResult): judged is Finding {
  return judged.result.result !== 'pass';
}

function nameOf({ rule, keys }: Pick<Finding, 'rule' | 'keys'>): string {
  return `${rule.id}${toPointer(keys)}`;
}
