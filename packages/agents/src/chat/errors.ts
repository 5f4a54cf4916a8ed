import { AssizeError } from 'assize/internal/base';

/** A refused call of a chat memory. Nothing was recorded. */
export class ChatMemoryError extends AssizeError<never> {
  override readonly name = 'ChatMemoryError';
}
