import { Assize, type Background } from 'assize/internal/runtime';

/** The runtime of a server, which reads what other processes committed before each answer. */
export class ServedAssize extends Assize {
  protected override get background(): Background {
    return { follows: false };
  }
}
