import type { Json } from 'assize/internal/base';
import type { BegunCall, CallEnd, Gate, GateCall, MakeOptions } from '#calls';

/** A tool, and the form in which the ledger keeps its results. */
interface RecordedTool<T, Kept extends Json> {
  readonly make: (begun: BegunCall) => T | Promise<T>;
  /** May throw: the call has failed then, and its framework still gets the value. */
  readonly toRecord: (value: T) => Kept | Promise<Kept>;
}

/** The end of a call. */
export interface ToolRun<T, Kept extends Json = Json> {
  readonly end: CallEnd<Kept>;
  /** The value of the tool, or the error that it threw. Absent: it was not called now. */
  readonly live?: { readonly value: T } | { readonly thrown: unknown };
}

/**
 * Makes a call through the gate, with the value that the tool gave beside the recorded end.
 *
 * @throws the errors of `Gate.run`
 */
export async function runTool<T, Kept extends Json>(
  gate: Gate,
  call: GateCall,
  { make, toRecord }: RecordedTool<T, Kept>,
  options: MakeOptions,
): Promise<ToolRun<T, Kept>> {
  let live: ToolRun<T>['live'];
  const made = async (begun: BegunCall): Promise<Kept> => {
    let value: T;
    try {
      value = await make(begun);
    } catch (thrown) {
      live = { thrown };
      throw thrown;
    }
    live = { value };
    return toRecord(value);
  };
  const end = await gate.run(call, made, options);
  return { end, ...(live !== undefined && { live }) };
}
