{{%AUTOESCAPE context="HTML"}}<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '{{SCRIPT_HASH:none}}'; style-src '{{STYLE_HASH:none}}'; img-src data:; connect-src {{CONNECT:none}}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="{{GENERATOR}}">
<title>{{TITLE}} – LineScope</title>
<style>{{STYLE:none}}</style>
</head>
<body>
<div id="app"></div>
<noscript>
<h1>{{TITLE}}</h1>
<p>This report shows its views by a script that is part of this file; your browser does not run scripts. A summary:</p>
<ul>
{{#FACT}}<li>{{NAME}}: {{VALUE}}</li>
{{/FACT}}</ul>
{{#HOT}}<table>
<caption>Most expensive lines</caption>
<thead><tr><th scope="col">Time</th><th scope="col">Share</th><th scope="col">Samples</th><th scope="col">Location</th><th scope="col">Source</th></tr></thead>
<tbody>
{{#LINE}}<tr><td>{{TIME}}</td><td>{{SHARE}}</td><td>{{SAMPLES}}</td><td>{{LABEL}}</td><td><pre>{{TEXT}}</pre></td></tr>
{{/LINE}}</tbody>
</table>
{{/HOT}}{{#NO_HOT}}<p>No samples fell on project lines.</p>
{{/NO_HOT}}</noscript>
<script type="application/json" id="ls-index">{{INDEX:none}}</script>
<script>{{SCRIPT:none}}</script>
{{#CHUNK}}<script type="text/plain" id="ls-c{{NUMBER:none}}">{{DATA:none}}</script>
{{/CHUNK}}</body>
</html>
