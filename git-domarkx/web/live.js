(() => {
  const main = document.querySelector("main[data-live]");
  if (!main) return;
  let source;
  const follow = () => {
    if (source) source.close();
    source = null;
    if (document.hidden) return;
    source = new EventSource(main.dataset.live);
    source.onmessage = event => {
      main.dataset.live = event.lastEventId;
      const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 120;
      const template = document.createElement("template");
      template.innerHTML = JSON.parse(event.data);
      for (const article of template.content.querySelectorAll("article")) {
        const old = document.getElementById(article.id);
        if (old) {
          const open = [...old.querySelectorAll("details")].map(d => d.open);
          article.querySelectorAll("details").forEach((d, i) => { d.open = open[i] || false; });
          old.replaceWith(article);
        } else {
          main.append(article);
        }
      }
      if (atEnd) scrollTo(0, document.documentElement.scrollHeight);
    };
    source.addEventListener("changed", () => location.reload());
  };
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => source && source.close());
  follow();
})();
