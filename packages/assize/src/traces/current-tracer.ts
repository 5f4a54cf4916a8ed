import { AssizeError } from '#base';
import type { Step, Tracer } from './tracer.ts';

/** A tracer that cannot be installed. */
export class TraceError extends AssizeError<never> {
  override readonly name = 'TraceError';
}

let current: Tracer | undefined;

/** The tracer of this process, if there is one. */
export function currentTracer(): Tracer | undefined {
  return current;
}

/**
 * Tells every later step of this process to a tracer. Returns a function that ends this.
 *
 * @throws TraceError `misuse`
 */
export function installTracer(tracer: Tracer): () => void {
  if (current !== undefined)
    throw new TraceError(
      'misuse',
      'This process has a tracer of Assize already. Stop that tracer first.',
    );
  current = tracer;
  return () => {
    if (current === tracer) current = undefined;
  };
}

/** Runs a step, and tells it to the tracer. `step`: made only if there is a tracer. */
export function traced<T>(step: () => Step<NoInfer<T>>, run: () => Promise<T>): Promise<T> {
  return current === undefined ? run() : told(current, step, run);
}

/** A step that cannot be made rejects, as its function would. */
async function told<T>(
  tracer: Tracer,
  step: () => Step<NoInfer<T>>,
  run: () => Promise<T>,
): Promise<T> {
  return tracer.step(step(), run);
}
