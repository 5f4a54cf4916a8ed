import { isRecord, type Json } from 'assize/internal/base';

type Args = Readonly<Record<string, Json>>;

/** The member that holds an input which is not a JSON object. */
const INPUT = 'input';

/** The arguments of a call, from the text of the model. */
export function argsOf(input: string): Args {
  return namedArgs(parsed(input));
}

/** The arguments of a call, from the value that a tool is given. */
export function namedArgs(value: unknown): Args {
  return isRecord(value) ? (value as Args) : { [INPUT]: value as Json };
}

/** Whether the model's text has arguments with names. */
export function hasNamedArgs(input: string): boolean {
  return isRecord(parsed(input));
}

/** The text of arguments, in the form of the model's own text. */
export function inputOf(args: Args, like: string): string {
  const before = parsed(like);
  if (isRecord(before)) return JSON.stringify(args);
  const { [INPUT]: value } = args;
  return typeof value === 'string' && before === like ? value : JSON.stringify(value ?? null);
}

/** A text that is not JSON is its own value. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}
