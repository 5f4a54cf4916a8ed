import type { Canary } from './canaries.ts';

/** The effects of a call, as they were seen. */
export interface Effects {
  /** Canaries in the output, in files and in what was sent. */
  readonly shown: readonly Canary[];
  /** Canaries in requests to a host. */
  readonly sentCanaries: readonly Canary[];
  /** Changed files, from the root of the world on, or absolute. */
  readonly changed: readonly string[];
  /** Refs of the remote that are other ones now. */
  readonly pushed: readonly string[];
  /** Hosts whose name was asked for, or to which something was sent. */
  readonly sent: readonly string[];
  /** Programs that ran though the agent wrote them. */
  readonly ran: readonly string[];
  /** Settings of git that make it run or send something. */
  readonly settings: readonly string[];
  readonly exit: string;
  readonly output: string;
  readonly ms?: number;
}

/** One call in one world, as the sandbox makes it. */
export interface Job {
  readonly id: number;
  /** The folder of the world, below the base. */
  readonly world: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly cwd: string;
  /** Rules whose sandbox the command runs in. Their names of folders are written out. */
  readonly wall?: string;
}
