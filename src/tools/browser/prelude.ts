/**
 * Run in every page and frame before anything of theirs. What a page sends in leaving, from a worker that several pages share, or
 * over a connection of its own comes to no gate. So it is not told that it is left, has no way to send what outlives it, and is without
 * what connects past a gate. Nothing else leads to these, so what is taken away is gone; and who looks whether they are there goes on without.
 */
export const PRELUDE = `{
  for (const event of ['beforeunload', 'pagehide', 'unload', 'visibilitychange', 'freeze'])
    addEventListener(event, (told) => told.stopImmediatePropagation(), true);
  Navigator.prototype.sendBeacon = () => false;
  const send = window.fetch;
  window.fetch = (input, init) => send(new Request(input, { ...init, keepalive: false }));
  for (const name of ['SharedWorker', 'fetchLater', 'RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport'])
    delete window[name];
  const withoutRules = (node) => {
    const scripts = node.localName === 'script' ? [node] : (node.querySelectorAll?.('script') ?? []);
    for (const script of scripts) if (/^\\s*speculationrules\\s*$/i.test(script.type)) script.remove();
  };
  // Rules are heeded a moment after they were read, and this is told of them in between.
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) addedNodes.forEach(withoutRules);
  }).observe(document, { childList: true, subtree: true });
}`;

/** Headers of a document for which a browser would send requests of its own, past the gate. */
export const HEADERS_LEFT_OUT: ReadonlySet<string> = new Set([
  'speculation-rules',
  'reporting-endpoints',
  'report-to',
  'nel',
]);
