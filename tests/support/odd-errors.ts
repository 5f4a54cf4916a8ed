/** Values that code may throw, and that cause another error when inspected. */
export function oddErrors(): readonly (readonly [string, unknown])[] {
  const refuse = (): never => {
    throw new Error('a trap');
  };
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable(new Error('gone'), {});
    revoke();
    return proxy;
  };
  return [
    ['a Proxy that was revoked', revoked()],
    ['an object that inherits from one', Object.create(revoked())],
    ['a Proxy that says nothing of its prototype', new Proxy(new Error('sly'), { getPrototypeOf: refuse })],
    ['a Proxy that says nothing of its members', new Proxy(new Error('sly'), { get: refuse })],
    ['an error whose code throws', Object.defineProperty(new Error('sly'), 'code', { get: refuse })],
    ['an error whose message throws', Object.defineProperty(new Error(), 'message', { get: refuse })],
    ['an error whose message is no text', Object.defineProperty(new Error(), 'message', { value: 5 })],
  ];
}
