// Before the first paint, so that a chosen theme never flashes. The key is the one src/web/local-data/preferences.ts writes.
;(function () {
  try {
    var theme = JSON.parse(localStorage.getItem('paydesk.preferences') || '{}').theme
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  } catch (_) {
    // Storage can be closed to us; the system's theme then stands.
  }
})()
