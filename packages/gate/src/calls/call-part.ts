import type { Json } from 'assize/internal/base';

/** One thing that a tool call does, in the vocabulary of rules: `files/read`, `shell/rm`. */
export interface CallPart {
  readonly server: string;
  readonly tool: string;
  readonly args: { readonly [name: string]: Json };
  /** Places of the rules that it may reach beside the paths that it names. */
  readonly reaches?: readonly string[];
}
