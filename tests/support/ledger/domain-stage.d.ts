import { type Domain, type Ruling, type Store, type Trajectory } from 'assize';
import { type Instant } from '#canon';
/** Nine o'clock, so many days after a stage was opened. */
export declare function dayAt(day: number): string;
/** The role that performs an action, and its parameters. */
export interface Whose {
    readonly name: string;
    readonly params: Readonly<Record<string, string>>;
}
/**
 * A domain on a real runtime over the store in memory, with a clock that a test sets. The agent of
 * the action's role proposes it, under a writ for that role alone.
 */
export declare class Stage {
    #private;
    readonly store: Store;
    readonly trajectory: Trajectory;
    /** Without `initial`, the domain's own state. `at` is the first time of the clock. */
    static open(domain: Domain, initial?: unknown, at?: Instant): Promise<Stage>;
    private constructor();
    get now(): Instant;
    /** From here on it is then. */
    at(now: Instant): void;
    /** From here on it is that day, at nine; the first is day 0. */
    on(day: number): void;
    propose(action: string, role: Whose, args: unknown): Promise<Ruling>;
    /** Proposes what must be committed for a test to mean anything. */
    done(action: string, role: Whose, args: unknown): Promise<void>;
    /** Proposes an action that must escalate, and then approves it. */
    approved(action: string, role: Whose, args: unknown, principal: string): Promise<Ruling>;
}
/**
 * A stage in a domain's own words: actions with their arguments, and role parameters that differ
 * from the usual ones.
 */
export declare abstract class Cast<Actions extends object, State, Whom extends object> {
    readonly stage: Stage;
    protected constructor(stage: Stage);
    protected abstract roleOf(action: keyof Actions, whom: Partial<Whom>): Whose;
    propose<Name extends keyof Actions & string>(action: Name, args: Actions[Name], whom?: Partial<Whom>): Promise<Ruling>;
    /** Proposes what must be committed for a test to mean anything. */
    done<Name extends keyof Actions & string>(action: Name, args: Actions[Name], whom?: Partial<Whom>): Promise<void>;
    /** Proposes an action that must escalate, and then approves it. */
    approved<Name extends keyof Actions & string>(action: Name, args: Actions[Name], principal: string, whom?: Partial<Whom>): Promise<Ruling>;
    on(day: number): void;
    get state(): State;
}
/** The role that performs the process of an action, with those of its parameters. */
export declare function whose(domain: Domain, action: string, params: Readonly<Record<string, string>>): Whose;
