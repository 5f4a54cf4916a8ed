import type { Json } from 'assize/internal/base';
import type { Domain, Intent } from 'assize/internal/kernel';
import type { Choices } from './choices.ts';
import { type Pool, poolOf, textNamed, valuesOf } from './values.ts';

/** An action that a role performs. */
interface Task {
  readonly action: string;
  readonly role: string;
  readonly params: readonly string[];
}

/** Draws proposals of a domain's actions, each by the roles that perform it. */
export class ProposalDrawer {
  readonly #tasks: readonly Task[];
  readonly #drawArgs: ReadonlyMap<string, (choices: Choices, pool: Pool) => Json>;

  /** `isWanted`: whether proposals of an action are drawn. Default: those of every action. */
  constructor({ actions, roles }: Domain, isWanted: (action: string) => boolean = () => true) {
    const wanted = Object.entries(actions).filter(([name]) => isWanted(name));
    this.#tasks = wanted.flatMap(([action, { process }]) =>
      Object.entries(roles)
        .filter(([, { processes }]) => processes.includes(process))
        .map(([role, { params = [] }]) => ({ action, role, params })),
    );
    this.#drawArgs = new Map(wanted.map(([name, { args }]) => [name, valuesOf(args)]));
  }

  /** `tries` proposals of each action by each of its roles. */
  *each(state: Json, choices: Choices, tries: number): Iterable<Intent> {
    const pool = poolOf(state);
    for (const task of this.#tasks)
      for (let n = 0; n < tries; n++) yield this.#drawn(task, choices, pool);
  }

  /** One proposal of any action. Undefined if no role performs any. */
  one(state: Json, choices: Choices): Intent | undefined {
    return this.#tasks.length === 0
      ? undefined
      : this.#drawn(choices.oneOf(this.#tasks), choices, poolOf(state));
  }

  #drawn({ action, role, params }: Task, choices: Choices, pool: Pool): Intent {
    const bound = params.map((param) => [param, textNamed(param, { choices, pool })] as const);
    const args = this.#drawArgs.get(action)?.(choices, pool) ?? null;
    return { action, role: { name: role, params: Object.fromEntries(bound) }, args };
  }
}
