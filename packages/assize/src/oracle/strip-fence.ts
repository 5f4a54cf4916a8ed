import { arg, checkArgument } from '#base';

/**
 * A model's text without the code fence and without the words around the fence. The first fence
 * counts.
 *
 * @throws ArgumentError `bad_argument`
 */
export function stripFence(answer: string): string {
  checkArgument(arg.text, answer, 'answer');
  const fenced = /^```[a-z]*\n([\s\S]*?)^```/m.exec(answer)?.[1];
  return (fenced ?? answer).trim();
}
