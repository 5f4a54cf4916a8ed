import { copyJson, parsePointer, toPointer, WORLD_LIMITS } from '#canon';
import {
  type Approved,
  type Authority,
  adjudicate,
  type CounselorCommit,
  candidateOf,
  compile,
  type Domain,
  type Finding,
  type Inputs,
  type Intent,
  type Judged,
  keepsValues,
  type PatchOperation,
  patchesOf,
  type Ruling,
  World,
} from '#kernel';
import { applyPatches, type Folded, type Patch, type RoleRef, type VectorItem } from '#ledger';
import { type BrokenByRecord, brokenBy } from './vector.ts';

/** What an action makes of a state, whatever the rules say of it. */
export interface Made {
  readonly cost: Readonly<Record<string, number>>;
  readonly patches: readonly PatchOperation[];
}

export const NOTHING_BROKEN: BrokenByRecord = new Set();

/** Everybody may do everything: for what was admitted when it was recorded. */
export const GRANTED: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

/**
 * The world as the ledger folds into it, with a domain that is asked what it makes of each step.
 *
 * What does not pass by the record is held against later proposals, as it was when they were made. What does not pass only by
 * the domain that runs now is found once and set aside until something touches it again: held against everything that
 * comes after, it would hide what else is different.
 */
export class RecordedWorld {
  readonly world: World;
  readonly #aside: Map<string, Finding> = new Map();
  /** Whether every rule was judged on the whole of the state that stands now. */
  #judgedWhole: boolean = true;

  constructor(domain: Domain, { state, owned }: Folded) {
    this.world = new World(domain, state, owned);
  }

  get domain(): Domain {
    return this.world.domain;
  }

  /** The state with what of it may be changed in place, to go on with under another domain. */
  get folded(): Folded {
    return { state: this.world.state as Folded['state'], owned: this.world.owned };
  }

  /** What does not pass at the beginning. */
  begin(broken: BrokenByRecord): Finding[] {
    const found = this.world.failing.filter((finding) => broken.has(finding.rule.id) || !this.world.isExcused(finding));
    this.#setAside(broken);
    return found;
  }

  /** As the runtime did. Arguments of a commit were parsed then: they are parsed again only where that changes nothing. */
  adjudicate(intent: Intent, authority: Authority, inputs: Inputs, parsed: boolean): Ruling {
    return adjudicate(this.world, intent, authority, inputs, { parsed: parsed && !this.#keepsArgs(intent) });
  }

  /** What the action would do if no rule, writ, policy or budget had a say; undefined where it is refused all the same. */
  made(intent: Intent, inputs: Inputs): Made | undefined {
    const compiled = compile(this.domain, intent, GRANTED, { parsed: !this.#keepsArgs(intent) });
    if ('reason' in compiled) return undefined;
    const candidate = candidateOf(this.world, compiled, inputs);
    if ('reason' in candidate) return undefined;
    const patches = copied(patchesOf(this.domain, candidate.draft.state, candidate.changes));
    this.world.takeBack(candidate.draft);
    return { cost: compiled.cost, patches };
  }

  /** Whether something that a proposal may read, or the rules on what it writes, is erased: it had it when it was made. */
  isWithout({ name, role }: { readonly name: string; readonly role: RoleRef }): boolean {
    const { actions, roles } = this.domain;
    const process = (actions as Record<string, Domain['actions'][string] | undefined>)[name]?.process;
    const known = Object.hasOwn(roles, role.name) ? roles[role.name] : undefined;
    if (process === undefined || known === undefined) return false;
    if (known.params?.some((param) => !Object.hasOwn(role.params, param))) return false;
    return this.world.isErasedIn(this.domain.bind(process, role.params).closure);
  }

  /** Rules that do not pass by a vector, and read something that is erased: they may have said otherwise with it. */
  excusedIn(vector: readonly VectorItem[]): ReadonlySet<string> {
    const broken = brokenBy(vector);
    const excused = this.domain.rules.filter(({ id, patterns }) => broken.has(id) && this.world.isErasedIn(patterns));
    return new Set(excused.map(({ id }) => id));
  }

  /** Goes on with a commit that came out as recorded. Answers what does not pass since. */
  keep(approved: Approved, patches: readonly PatchOperation[]): Finding[] {
    if (this.#aside.size === 0) {
      approved.keep();
      this.#judgedWhole = false;
      return [];
    }
    approved.undo();
    return this.follow(patches, NOTHING_BROKEN);
  }

  /** Goes on with a counselor's commit that came out as recorded. Answers what does not pass since. */
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
   * Goes on with the recorded changes, whatever the domain makes of them; their values become part of the state. Answers
   * what does not pass since.
   *
   * @throws Error for patches that can't be applied
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
      else if (!before.has(name) && !this.#aside.has(name) && !this.world.isExcused(place)) fresh.push(place);
    }
    this.#setAside(broken);
    return fresh;
  }

  /** Judges every rule on the whole state once more. Answers what does not pass although no entry was seen to break it. */
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
    const { failing } = this.world.standing;
    for (const [key, finding] of failing) {
      if (broken.has(finding.rule.id)) continue;
      failing.delete(key);
      this.#aside.set(nameOf(finding), finding);
    }
  }

  #keepsArgs({ action }: Intent): boolean {
    const spec = (this.domain.actions as Record<string, Domain['actions'][string] | undefined>)[action];
    return spec === undefined || keepsValues(spec.args);
  }
}

export function copied(patches: readonly PatchOperation[]): readonly PatchOperation[] {
  return copyJson(patches, WORLD_LIMITS) as unknown as readonly PatchOperation[];
}

function isFinding(judged: Judged): judged is Finding {
  return judged.result.result !== 'pass';
}

function nameOf({ rule, keys }: Pick<Finding, 'rule' | 'keys'>): string {
  return `${rule.id}${toPointer(keys)}`;
}
