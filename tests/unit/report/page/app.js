"use strict";(()=>{document.getElementById("app").textContent=JSON.parse(document.getElementById("ls-index").textContent).run.title;})();
