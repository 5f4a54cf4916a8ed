import type { WritChain } from 'assize/host';
import { segment, type Writ } from 'assize/internal/authority';
import { arg, checkArgument } from 'assize/internal/base';
import { BELIEVE_ACTION, STATEMENT_TEXTS } from 'assize/internal/kernel';
import type { Hash, LedgerStore } from 'assize/internal/ledger';
import { MemoryError, OPEN_END, OPEN_START } from 'assize/internal/memory';
import {
  type Clock,
  createOracle,
  type Oracle,
  type OracleStore,
  systemClock,
} from 'assize/internal/oracle';
import {
  type Assize,
  type Memory,
  type MemoryView,
  type Ruling,
  type SearchMode,
  Trajectory,
} from 'assize/internal/runtime';
import type { ExtractionTerms } from '#agents';
import { type Aliases, nameKey } from './aliases.ts';
import { ALIAS, factPredicates, PREDICATE_ALIAS } from './domain.ts';
import { ChatMemoryError } from './errors.ts';
import type { ReadSpace } from './match.ts';
import type { ChatMessage } from './messages.ts';
import { proposeAliases } from './propose-aliases.ts';
import { type ChatRecall, checkRecallOptions, type RecallOptions, recall } from './recall.ts';
import {
  checkRememberOptions,
  type Remembered,
  type RememberOptions,
  remember,
} from './remember.ts';
import {
  checkRepair,
  type FactToRepair,
  type Repair,
  type RepairOptions,
  repair,
} from './repair.ts';
import { aliasesOf, type DeclaredAliases, type SpaceAliases } from './space-aliases.ts';
import { estimateTokens } from './tokens.ts';

/** The ledger of a chat memory. A world of `createAssize` has all of it. */
export interface ChatWorld {
  readonly assize: Assize;
  readonly store: LedgerStore & OracleStore;
  /** Absent: the shared facts of all trajectories, to read. */
  readonly trajectory?: Trajectory;
  /**
   * For `assize.believe` on `memory:SPACE:**` of the spaces. These are also the spaces to read.
   * Without a writ nothing is recorded, and `mayRead` names the spaces to read.
   */
  readonly writ?: Hash | Writ | WritChain;
}

export interface ChatMemoryOptions {
  /** Reads messages. Without a model, `remember` needs `facts`. */
  readonly model?: ExtractionTerms['model'];
  /** The model and its settings. Other settings ask again. */
  readonly theta?: ExtractionTerms['theta'];
  /** The space of calls that name neither a space nor a user. Default: `chat`. */
  readonly space?: string;
  /** Names that mean one thing, in addition to those that the ledger has. */
  readonly aliases?: DeclaredAliases;
  /**
   * The effect of a user's statement on a fact of another user: it stays beside the fact and
   * contradicts it, or the strategy of the predicate decides alone. Default: `contradict`.
   */
  readonly otherUsers?: 'contradict' | 'replace';
  /** The search of `recall`. All but `text` need an embedder of the runtime. Default: `text`. */
  readonly by?: SearchMode;
  /** The tokens of a text, for `budget`. Default: `estimateTokens`. */
  readonly countTokens?: (text: string) => number;
  /** The asserting principal. Default: the writ's subject. */
  readonly principal?: string;
  /** Returns whether a space may be read. Default: whether the writ covers it. */
  readonly mayRead?: (space: string) => boolean;
  /** Reads what this trajectory or branch sees. Default: the trajectory of the world. */
  readonly readAs?: string;
  readonly clock?: Clock;
}

/** A name of a thing or of a predicate. */
export interface AliasInput {
  readonly alias: string;
  readonly name: string;
  /** Default: `name`, a subject or object. */
  readonly of?: 'name' | 'predicate';
  readonly space?: string;
  readonly user?: string;
}

export interface AliasProposals {
  /** Each pair waits for a person, who answers that both names mean one thing, or do not. */
  readonly questions: readonly {
    readonly alias: string;
    readonly name: string;
    readonly pending: Hash;
  }[];
}

const DEFAULT_SPACE = 'chat';

const WORLD = arg.members({
  assize: arg.object,
  store: arg.object,
  trajectory: arg.optional(arg.object),
  writ: arg.any,
});
const NAMES = arg.optional(arg.record(arg.list(arg.text)));
const OPTIONS = arg.options<ChatMemoryOptions>({
  model: arg.optional(arg.code),
  theta: arg.optional(arg.object),
  space: arg.optional(arg.text),
  aliases: arg.optional(arg.members({ names: NAMES, predicates: NAMES })),
  otherUsers: arg.optional(arg.oneOf(['contradict', 'replace'])),
  by: arg.optional(arg.oneOf(['text', 'embedding', 'hybrid'])),
  countTokens: arg.optional(arg.code),
  principal: arg.optional(arg.text),
  mayRead: arg.optional(arg.code),
  readAs: arg.optional(arg.text),
  clock: arg.optional(arg.members({ now: arg.code })),
});
const PLACE = { space: arg.optional(arg.text), user: arg.optional(arg.text) };
const ALIAS_INPUT = arg.options<AliasInput>({
  alias: arg.text,
  name: arg.text,
  of: arg.optional(arg.oneOf(['name', 'predicate'])),
  ...PLACE,
});
const PLACE_INPUT = arg.options<{ space?: string; user?: string }>(PLACE);

/** Where a call reads and writes. */
type Place = { readonly space?: string | undefined; readonly user?: string | undefined };

/**
 * A memory for a chat, in two calls: `remember` records the facts of messages, and `recall` returns
 * those for a question, with a text for a prompt. Facts are bitemporal facts of a trajectory, with
 * all that this means: losers stay on record, and each fact names its message.
 */
export class ChatMemory {
  readonly #world: ChatWorld;
  readonly #options: ChatMemoryOptions;
  readonly #clock: Clock;
  readonly #oracle: Oracle;

  /** @throws ArgumentError `bad_argument`; DuplicatePackageError `duplicate_package` */
  constructor(world: ChatWorld, options: ChatMemoryOptions = {}) {
    checkArgument(WORLD, world, 'world');
    checkArgument(OPTIONS, options, 'options');
    this.#world = world;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#oracle = createOracle({ store: world.store, clock: this.#clock, mode: 'record' });
    Object.freeze(this);
  }

  /**
   * Records the facts of messages. A model reads the messages, or the caller gives the facts. Names
   * of one class are one name, so a reworded fact is a duplicate. The valid facts are recorded in
   * one commit, apart from those that wait for a person; others are `skipped` with the reason. A
   * repeated call asks no model and changes nothing.
   *
   * @throws ChatMemoryError `bad_argument`, `forbidden`, `idempotency_conflict`; ExtractionError
   * `bad_argument`, `bad_extraction`; MemoryError `bad_text`, `bad_metadata`; CanonError
   * `bad_instant`; the errors of the model, the oracle log and `Trajectory.propose`; ArgumentError
   * `bad_argument`
   */
  async remember(
    messages: readonly ChatMessage[],
    options: RememberOptions = {},
  ): Promise<Remembered> {
    checkRememberOptions(options);
    const space = this.#spaceOf(options);
    const memory = this.#readMemory(space);
    const { trajectory } = this.#writing();
    return remember(messages, options, {
      memory,
      space,
      trajectory: trajectory.id,
      oracle: this.#oracle,
      clock: this.#clock,
      predicates: factPredicates(trajectory.domain),
      aliases: await this.#aliasesNow(memory),
      model: this.#options.model,
      theta: this.#options.theta,
      otherUsers: this.#options.otherUsers ?? 'contradict',
    });
  }

  /**
   * The facts for a question, best first, of one space or of several; without a question, all facts
   * by pages. Facts have the names of their classes. Facts that only aliases declared later show to
   * be one fact are one, and those that contradict each other say so.
   *
   * @throws ChatMemoryError `forbidden`, `bad_argument`, `function_failed`; MemoryError
   * `bad_argument`, `bad_text`, `bad_metadata`; CanonError `bad_instant`; the errors of the
   * embedder; ArgumentError `bad_argument`
   */
  async recall(question?: string, options: RecallOptions = {}): Promise<ChatRecall> {
    checkRecallOptions(question, options);
    const { by = 'text', countTokens = estimateTokens } = this.#options;
    const spaces = [...new Set(options.spaces ?? [this.#spaceOf(options)])];
    return recall(question, options, {
      spaces: spaces.map((space): ReadSpace => {
        const view = this.#view(space);
        return { space, view, aliasesAt: (times) => aliasesOf(view, this.#declared(), times) };
      }),
      clock: this.#clock,
      by,
      countTokens,
    });
  }

  /**
   * The names of a space that mean one thing.
   *
   * @throws ChatMemoryError `forbidden`; MemoryError `bad_text`
   */
  async aliases(of: { readonly space?: string; readonly user?: string } = {}): Promise<{
    readonly names: ReturnType<Aliases['classes']>;
    readonly predicates: ReturnType<Aliases['classes']>;
  }> {
    checkArgument(PLACE_INPUT, of, 'of');
    const { names, predicates } = await this.#aliasesNow(this.#view(this.#spaceOf(of)));
    return { names: names.classes(), predicates: predicates.classes() };
  }

  /**
   * Declares that a name means the same as another, for all times. The statement is a fact of the
   * space: a recall as of an earlier time does not use it, and `removeAlias` ends it.
   *
   * @throws ChatMemoryError `bad_argument`; the errors of `Memory.correct`
   */
  async declareAlias(input: AliasInput): Promise<Ruling> {
    const { subject, predicate, object, memory } = this.#alias(input);
    return memory.correct({
      subject,
      predicate,
      object,
      valid: { from: OPEN_START, to: OPEN_END },
    });
  }

  /**
   * Ends an alias. @throws the errors of `declareAlias`
   */
  async removeAlias(input: AliasInput): Promise<Ruling> {
    const { subject, predicate, object, memory } = this.#alias(input);
    return memory.retract({
      subject,
      predicate,
      object,
      valid: { from: OPEN_START, to: OPEN_END },
    });
  }

  /**
   * Asks the model which names of a space mean one thing. Each pair becomes a pending proposal, and
   * counts when a person has approved it with the answer that the names are the same.
   *
   * @throws ChatMemoryError `bad_argument`, `forbidden`; ExtractionError `bad_extraction`; the
   * errors of the model and of `Memory.assertMany`
   */
  async proposeAliases(
    of: { readonly space?: string; readonly user?: string } = {},
  ): Promise<AliasProposals> {
    checkArgument(PLACE_INPUT, of, 'of');
    const { model, theta } = this.#options;
    if (model === undefined)
      throw new ChatMemoryError(
        'bad_argument',
        'The memory has no model to compare names. Set `model`.',
      );
    const space = this.#spaceOf(of);
    const memory = this.#readMemory(space);
    const questions = await proposeAliases({
      ...{
        memory,
        space,
        oracle: this.#oracle,
        trajectory: this.#writing().trajectory.id,
        model,
        theta,
      },
      aliases: await this.#aliasesNow(memory),
    });
    return { questions };
  }

  /**
   * Lists what followed from a fact that turned out to be false, and with `apply` withdraws it in
   * one commit: the fact under all of its names, if it is still believed, and the facts that
   * `remember` concluded from it (`basedOn`). Facts that the withdrawn statements had displaced
   * hold again, and are listed as `restored`. Actions of the domain that used the fact are listed
   * for a person.
   *
   * @throws ChatMemoryError `not_found`, `ambiguous`, `forbidden`; the errors of
   * `MemoryView.dependents` and `Trajectory.propose`; ArgumentError `bad_argument`
   */
  async repair(fact: FactToRepair, options: RepairOptions = {}): Promise<Repair> {
    checkRepair(fact, options);
    const { store } = this.#world;
    const { principal } = this.#options;
    const view = this.#view(fact.space);
    return repair(fact, options, {
      view,
      aliases: await this.#aliasesNow(view),
      store,
      viewOf: (space) => this.#view(space),
      propose: (input) => {
        const { trajectory, writ } = this.#writing();
        return trajectory.propose({
          ...input,
          writ,
          ...(principal !== undefined && { principal }),
        });
      },
    });
  }

  #spaceOf({ space, user }: Place): string {
    const named =
      space ?? (user === undefined ? (this.#options.space ?? DEFAULT_SPACE) : `user:${user}`);
    if (STATEMENT_TEXTS.name.safeParse(named).success) return named;
    throw new MemoryError(
      'bad_text',
      'The space is not a name that can be stored. Use 1 to 512 characters in NFC.',
    );
  }

  /** @throws ChatMemoryError `forbidden` */
  #memory(space: string): Memory {
    const { trajectory, writ } = this.#writing();
    const { principal } = this.#options;
    return trajectory.memory({ space, writ, ...(principal !== undefined && { principal }) });
  }

  /**
   * A space to write and to read.
   * @throws ChatMemoryError `forbidden`
   */
  #readMemory(space: string): Memory {
    const memory = this.#memory(space);
    this.#requireRead(space);
    return memory;
  }

  /** @throws ChatMemoryError `forbidden` */
  #view(space: string): MemoryView {
    this.#requireRead(this.#spaceOf({ space }));
    return this.#world.assize.memory(space, this.#options.readAs ?? this.#world.trajectory?.id);
  }

  /** @throws ChatMemoryError `forbidden` */
  #requireRead(space: string): void {
    if (this.#mayRead(space)) return;
    throw new ChatMemoryError(
      'forbidden',
      `The caller may not read the space ${JSON.stringify(space)}. Name another space, or use a writ for memory:${segment(space)}:**.`,
      { evidence: { space } },
    );
  }

  /** @throws ChatMemoryError `forbidden` */
  #writing(): { readonly trajectory: Trajectory; readonly writ: Hash | Writ | WritChain } {
    const { trajectory, writ } = this.#world;
    if (trajectory !== undefined && writ !== undefined) return { trajectory, writ };
    throw new ChatMemoryError(
      'forbidden',
      'The memory has no trajectory with a writ, so it only reads. Pass both.',
    );
  }

  #mayRead(space: string): boolean {
    const { mayRead } = this.#options;
    if (mayRead !== undefined) return mayRead(space);
    const { trajectory, writ } = this.#world;
    if (trajectory === undefined || writ === undefined) return false;
    return Trajectory.covers(trajectory, writ, {
      action: BELIEVE_ACTION,
      scopes: [`memory:${segment(space)}:**`],
    });
  }

  #aliasesNow(view: MemoryView): Promise<SpaceAliases> {
    return aliasesOf(view, this.#declared(), { valid: this.#clock.now() });
  }

  #declared(): DeclaredAliases {
    return this.#options.aliases ?? {};
  }

  /**
   * @throws ChatMemoryError `bad_argument`; MemoryError `bad_text`; ArgumentError `bad_argument`
   */
  #alias(input: AliasInput): {
    subject: string;
    predicate: string;
    object: string;
    memory: Memory;
  } {
    checkArgument(ALIAS_INPUT, input, 'input');
    const { of = 'name' } = input;
    const [subject, object] = [input.alias, input.name].map((text) => text.normalize('NFC')) as [
      string,
      string,
    ];
    if (nameKey(subject) === nameKey(object))
      throw new ChatMemoryError(
        'bad_argument',
        'The alias is the name itself. Pass another name of the same thing.',
      );
    if (
      of === 'predicate' &&
      !Object.hasOwn(factPredicates(this.#writing().trajectory.domain), object)
    )
      throw new ChatMemoryError(
        'bad_argument',
        `The domain declares no predicate ${JSON.stringify(object)}, so no name can mean it. Name a declared predicate.`,
      );
    const predicate = of === 'name' ? ALIAS : PREDICATE_ALIAS;
    return { subject, predicate, object, memory: this.#memory(this.#spaceOf(input)) };
  }
}

/**
 * A chat memory over a world of `createAssize`, or over an open trajectory with a writ.
 *
 * @throws the errors of `new ChatMemory`
 */
export function chatMemory(world: ChatWorld, options: ChatMemoryOptions = {}): ChatMemory {
  return new ChatMemory(world, options);
}
